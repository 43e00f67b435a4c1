package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

/** Reads the policies again when Spring Cloud, which is not needed otherwise, tells that the environment has changed. */
final class ConfigurationRefresh implements GenericApplicationListener {

    private static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private final Environment environment;
    private final ObjectProvider<RateLimitOperations> operations;
    private final ObjectProvider<PolicyObserver> observers;
    private final RulesAtStart start;

    ConfigurationRefresh(
            Environment environment,
            ObjectProvider<RateLimitOperations> operations,
            ObjectProvider<PolicyObserver> observers,
            RulesAtStart start) {
        this.environment = environment;
        this.operations = operations;
        this.observers = observers;
        this.start = start;
    }

    @Override
    public boolean supportsEventType(ResolvableType type) {
        return type.toClass().getName().equals(EVENT);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        RateLimitOperations refreshed = operations.getObject();
        if (refreshed.refresh(environment)) {
            start.compareWithRoutes();
        }
        observers.forEach(observer -> observer.watch(refreshed.names()));
    }
}

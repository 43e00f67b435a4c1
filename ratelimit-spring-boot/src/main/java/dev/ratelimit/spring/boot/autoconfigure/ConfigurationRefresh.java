package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

/** Reads the policies again when Spring Cloud, which is not needed otherwise, tells that the environment has changed. */
final class ConfigurationRefresh implements GenericApplicationListener {

    private static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private final Environment environment;
    private final ObjectProvider<RefreshedConfiguration> configuration;
    private final RulesAtStart start;

    ConfigurationRefresh(
            Environment environment, ObjectProvider<RefreshedConfiguration> configuration, RulesAtStart start) {
        this.environment = environment;
        this.configuration = configuration;
        this.start = start;
    }

    @Override
    public boolean supportsEventType(ResolvableType type) {
        return type.toClass().getName().equals(EVENT);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (configuration.getObject().refresh(environment)) {
            start.compareWithRoutes();
        }
    }
}

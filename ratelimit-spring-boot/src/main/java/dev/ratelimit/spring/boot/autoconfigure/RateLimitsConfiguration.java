package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.mistake.WrittenProperties;
import dev.ratelimit.spring.rules.operation.QueuedEvents;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;

/**
 * What all starters configure alike: a store and a limiter for use by the application, and the rules if there is a policy
 * or an annotation, unless {@code ratelimit.enabled} is false. A starter's auto-configuration imports it after the
 * configuration of its {@link WebStack}, {@link RequestExplainer} and filters, and declares an {@link Operator}.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(RateLimitProperties.class)
@Import({
    RedisStoreConfiguration.class,
    JdbcStoreConfiguration.class,
    RemoteStoreConfiguration.class,
    RateLimitObservabilityConfiguration.class,
    StoreHealthConfiguration.class,
    RequestRulesConfiguration.class,
    OperationConfiguration.class,
    RedisChangesConfiguration.class,
    MethodLimitsConfiguration.class,
    RateLimitsEndpointConfiguration.class,
    OpenApiConfiguration.class,
    NoPolicyConfiguration.class
})
public class RateLimitsConfiguration {

    @Bean("dev.ratelimit.writtenProperties")
    static BeanFactoryPostProcessor rateLimitWrittenProperties(Environment environment) {
        return beans -> {
            // the properties at run time may differ from those while code is generated
            if (!Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING) && OnRateLimitsEnabled.in(environment)) {
                WrittenProperties.check(environment);
            }
        };
    }

    @Bean("dev.ratelimit.store")
    @ConditionalOnMissingBean(RateLimitStore.class)
    InMemoryStore rateLimitStore(
            RateLimitProperties properties,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<Scheduler> scheduler,
            ApplicationContext context) {
        if (properties.store().remote() != null) {
            throw StoreDependencyCheck.mistake(properties.store().type(), context.getClassLoader());
        }
        InMemoryStore.Builder store = InMemoryStore.builder().ticker(ticker.getIfAvailable(Ticker::system));
        scheduler.ifAvailable(store::scheduler);
        properties.maxKeys().forEach(store::maxKeys);
        return store.build();
    }

    @Bean("dev.ratelimit.limiter")
    @ConditionalOnMissingBean
    RateLimiter rateLimiter(RateLimitStore store, ObjectProvider<Ticker> ticker, ObjectProvider<Scheduler> scheduler) {
        Ticker time = ticker.getIfAvailable(Ticker::system);
        return new RateLimiter(store, time, scheduler.getIfAvailable(() -> Scheduler.of(time)));
    }

    @Bean("dev.ratelimit.events")
    QueuedEvents rateLimitEvents(ApplicationContext context) {
        return QueuedEvents.onOwnThread(context::publishEvent, context.getClassLoader());
    }

    /** Also told of contexts within this one, which start when all beans of this one are there. */
    @Bean("dev.ratelimit.eventsStart")
    ApplicationListener<ContextRefreshedEvent> rateLimitEventsStart(QueuedEvents events) {
        return refreshed -> events.start();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebServerFactoryCustomizer.class)
    static class BeforeTheServer {

        /**
         * Customizes nothing. Its parameters are created before the server starts, so that mistakes are found earlier.
         */
        @Bean("dev.ratelimit.rulesBeforeTheServer")
        WebServerFactoryCustomizer<WebServerFactory> rateLimitRulesBeforeTheServer(
                RateLimitProperties properties,
                ObjectProvider<RequestRules> rules,
                ObjectProvider<InMemoryStore> memory) {
            if (properties.store().remote() != null) {
                // without the dependencies, this is the starter's, which then refuses to be created
                memory.ifAvailable(store -> {});
            }
            rules.ifAvailable(made -> {});
            return server -> {};
        }
    }
}

package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreBuilder;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.spi.StoreReport;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.boot.store.RemoteWarmUp;
import dev.ratelimit.spring.boot.store.StoreEvents;
import dev.ratelimit.spring.boot.store.StoreObserver;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.operation.QueuedEvents;
import java.util.Locale;
import java.util.Map;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** What every store on other servers has beside it: events, a report, a warm-up, and leases in mode leased. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(name = RemoteStoreConfiguration.STORE, value = RemoteStore.class, search = SearchStrategy.CURRENT)
class RemoteStoreConfiguration {

    static final String TYPE = "ratelimit.store.type";

    /** The name of the store's bean, unless the application has one of its own. */
    static final String STORE = "dev.ratelimit.store";

    /** The name of a bean that exists only with such a store. */
    static final String EVENTS = "dev.ratelimit.storeEvents";

    /** Gives a builder the settings that all have; returns who is to watch the store. */
    static StoreObserver configure(
            RemoteStoreBuilder<?> builder,
            RateLimitProperties.Remote settings,
            Map<String, OnStoreFailure> onStoreFailure,
            BeanFactory beans) {
        builder.deadline(settings.deadline())
                .maxInFlight(settings.maxInFlight())
                .failures(settings.failures())
                .openFor(settings.openFor())
                .localShare(settings.localShare())
                .denyCache(settings.denyCache())
                .ticker(beans.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system));
        beans.getBeanProvider(Scheduler.class).ifAvailable(builder::scheduler);
        onStoreFailure.forEach(builder::onStoreFailure);
        StoreObserver observer = StoreObserver.of(
                beans.getBeanProvider(StoreObserver.class).orderedStream().toList());
        builder.listener(observer);
        return observer;
    }

    private static RateLimitProperties.Remote settings(RateLimitProperties properties) {
        RateLimitProperties.Remote settings = properties.store().remote();
        if (settings == null) {
            throw new RateLimitConfigurationException(
                    TYPE,
                    "memory",
                    "must be what it was when code was generated ahead of time, and was not memory then");
        }
        return settings;
    }

    /** The store for all who charge or refund, in mode leased. */
    @Bean("dev.ratelimit.leasingStore")
    @Primary
    @Conditional(OnLeases.class)
    LeasingStore rateLimitLeasingStore(
            RemoteStore store,
            RateLimitProperties properties,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<Scheduler> scheduler) {
        RateLimitProperties.Lease lease = settings(properties).lease();
        Ticker time = ticker.getIfAvailable(Ticker::system);
        return new LeasingStore(
                store,
                lease.fraction(),
                lease.maxAge(),
                RemoteStore::decidedByServers,
                time,
                scheduler.getIfAvailable(() -> Scheduler.of(time)));
    }

    @Bean(EVENTS)
    StoreEvents rateLimitStoreEvents(QueuedEvents events) {
        return new StoreEvents(events::publish);
    }

    @Bean("dev.ratelimit.storeReport")
    StoreReport rateLimitStoreReport(RemoteStore store, RateLimitProperties properties) {
        String type = properties.store().type().name().toLowerCase(Locale.ROOT);
        return () -> Map.of("type", type, "available", store.available());
    }

    @Bean("dev.ratelimit.storeWarmUp")
    StoreWarmUp rateLimitStoreWarmUp(RemoteStore store, RateLimitProperties properties, ObjectProvider<Ticker> ticker) {
        return new RemoteWarmUp(store, store::available, ticker.getIfAvailable(Ticker::system), settings(properties));
    }

    /** Whether the store that is used is in mode leased. */
    static final class OnLeases extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            String type = context.getEnvironment().getProperty(TYPE, "");
            String name = "ratelimit.store." + type.toLowerCase(Locale.ROOT) + ".mode";
            String mode = context.getEnvironment().getProperty(name, "");
            return new ConditionOutcome(
                    mode.equalsIgnoreCase("leased"), ConditionMessage.of(name + " is '" + mode + "'"));
        }
    }
}

package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.config.RateLimitProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Auto-configuration of rate limits: a store and a limiter for the application's own use, and the filter where a policy or
 * an annotation asks for one, unless {@code ratelimit.enabled} is false.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@EnableConfigurationProperties(RateLimitProperties.class)
@ImportRuntimeHints(RateLimitRuntimeHints.class)
@Import({
    RedisStoreConfiguration.class,
    RedisStoreMetricsConfiguration.class,
    RedisStoreHealthConfiguration.class,
    RateLimitMetricsConfiguration.class,
    RateLimitFilterConfiguration.class,
    NothingLimitedConfiguration.class
})
public final class RateLimitAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(RateLimitStore.class)
    InMemoryStore rateLimitStore(
            RateLimitProperties properties, ObjectProvider<Ticker> ticker, ApplicationContext context) {
        if (properties.store().type() == RateLimitProperties.Store.Type.REDIS) {
            throw MissingRedis.mistake(context.getClassLoader());
        }
        InMemoryStore.Builder store = InMemoryStore.builder().ticker(ticker.getIfAvailable(Ticker::system));
        properties.policies().forEach((name, policy) -> store.maxKeys(name, Math.max(1, policy.maxKeys())));
        return store.build();
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimiter rateLimiter(RateLimitStore store, ObjectProvider<Ticker> ticker) {
        return new RateLimiter(store, ticker.getIfAvailable(Ticker::system));
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
    static class Checks {

        @Bean
        AnnotationCheck rateLimitAnnotationCheck(ApplicationContext context) {
            return new AnnotationCheck(context);
        }
    }
}

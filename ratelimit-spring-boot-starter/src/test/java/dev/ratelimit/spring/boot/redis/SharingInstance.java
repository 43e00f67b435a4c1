package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.test.FakeTicker;
import java.util.Map;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** An instance in virtual time, and what it shares with others by a server; its operations are yet to be told of that. */
record SharingInstance(RateLimitOperations operations, RedisChanges shared) {

    static SharingInstance of(ScriptedServer server, FakeTicker ticker, Map<String, String> properties) {
        RateLimitOperations operations = new RateLimitOperations(
                RequestRules.withoutRequests(
                        new Binder(new MapConfigurationPropertySource(properties))
                                .bind("ratelimit", RateLimitProperties.class)
                                .get(),
                        new StaticListableBeanFactory(),
                        text -> text,
                        limit -> {}),
                InMemoryStore.builder().ticker(ticker).build(),
                ticker);
        RedisChanges shared = new RedisChanges(
                server,
                "ratelimit",
                new StaticListableBeanFactory(Map.of("operations", operations))
                        .getBeanProvider(RateLimitOperations.class),
                ticker,
                ticker);
        return new SharingInstance(operations, shared);
    }
}

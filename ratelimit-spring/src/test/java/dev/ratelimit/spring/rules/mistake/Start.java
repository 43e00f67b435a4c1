package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.config.PolicyRules;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.mock.env.MockEnvironment;

/** What the start of an application does with its configuration, one after another. */
final class Start {

    private Start() {}

    /** What it reports; {@code null} if it finds no mistake. */
    static @Nullable FailureAnalysis report(ConfigurableEnvironment environment) {
        try {
            WrittenProperties.check(environment);
            ConfigurationPropertySources.attach(environment);
            RateLimitProperties properties = Binder.get(
                            environment, new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
                    .bindOrCreate("ratelimit", RateLimitProperties.class);
            new PolicyRules(properties, Map.of(), Map.of(), new DefaultListableBeanFactory(), limit -> {});
            return null;
        } catch (RuntimeException failure) {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(environment).analyze(failure);
            if (analysis == null) {
                throw failure;
            }
            return analysis;
        }
    }

    /** What it reports about these properties, each of which is a name, an equals sign and a value. */
    static @Nullable FailureAnalysis report(String... properties) {
        MockEnvironment environment = new MockEnvironment();
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            environment.setProperty(parts[0], parts[1]);
        }
        return report(environment);
    }
}

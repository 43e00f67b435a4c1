package dev.ratelimit.simulator.config;

import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.mistake.WrittenProperties;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/**
 * Where properties come from: files as Spring Boot reads them, with their profiles and imports, the environment, and
 * properties that take precedence. Immutable.
 *
 * @param files in which later ones take precedence; empty for none
 * @param profiles that are active, besides those that the files activate
 * @param properties that take precedence over all others
 */
public record ConfigurationSource(List<Path> files, List<String> profiles, Map<String, String> properties) {

    /** Properties without files. */
    public static ConfigurationSource of(Map<String, String> properties) {
        return new ConfigurationSource(List.of(), List.of(), properties);
    }

    /** The same with more properties, which take precedence. */
    public ConfigurationSource with(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(properties);
        all.putAll(more);
        return new ConfigurationSource(files, profiles, all);
    }

    /**
     * Reads the properties.
     *
     * @throws ConfigurationMistakeException if Spring Boot could not
     */
    public Environment environment() {
        StandardEnvironment environment = new StandardEnvironment();
        return reported(environment, () -> {
            if (!files.isEmpty()) {
                String locations =
                        files.stream().map(ConfigurationSource::location).collect(Collectors.joining(","));
                environment
                        .getPropertySources()
                        .addFirst(new MapPropertySource("files", Map.of("spring.config.location", locations)));
                ConfigDataEnvironmentPostProcessor.applyTo(environment, null, new DefaultBootstrapContext(), profiles);
            }
            environment.getPropertySources().addFirst(new MapPropertySource("command line", Map.copyOf(properties)));
            ConfigurationPropertySources.attach(environment);
            return environment;
        });
    }

    private static String location(Path file) {
        String path = file.toAbsolutePath().normalize().toUri().toString();
        return path.replaceFirst("^file:///", "file:/");
    }

    /**
     * Binds the properties of rate limits, with the checks of a start.
     *
     * @throws ConfigurationMistakeException if the start would fail
     */
    public static RateLimitProperties bind(Environment environment) {
        return reported(environment, () -> {
            WrittenProperties.check(environment);
            return Binder.get(environment)
                    .bindOrCreate(
                            "ratelimit",
                            Bindable.of(RateLimitProperties.class),
                            new NoUnboundElementsBindHandler(new IgnoreTopLevelConverterNotFoundBindHandler()));
        });
    }

    /** What may fail because of the configuration. */
    interface Step<T> {

        T run();
    }

    /** Runs a step of the start; if it fails, the message is that of the start. */
    static <T> T reported(Environment environment, Step<T> step) {
        try {
            return step.run();
        } catch (ConfigurationMistakeException e) {
            throw e;
        } catch (RuntimeException e) {
            FailureAnalysis analysis = analysis(environment, e);
            if (analysis == null) {
                throw new ConfigurationMistakeException("The configuration cannot be read: " + e.getMessage(), e);
            }
            String action = analysis.getAction();
            throw new ConfigurationMistakeException(
                    analysis.getDescription() + (action == null ? "" : "\n\n" + action), e);
        }
    }

    private static @Nullable FailureAnalysis analysis(Environment environment, RuntimeException failure) {
        // those that need what is not here cannot know this failure
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation(
                        ConfigurationSource.class.getClassLoader())
                .load(
                        FailureAnalyzer.class,
                        ArgumentResolver.of(Environment.class, environment),
                        FailureHandler.handleMessage((message, e) -> {}));
        for (FailureAnalyzer analyzer : analyzers) {
            FailureAnalysis analysis = attempt(analyzer, failure);
            if (analysis != null) {
                return analysis;
            }
        }
        return null;
    }

    private static @Nullable FailureAnalysis attempt(FailureAnalyzer analyzer, Throwable failure) {
        try {
            return analyzer.analyze(failure);
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }
}

package dev.ratelimit.simulator;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.statistics.KeyCount;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.Field.Kind;
import dev.ratelimit.simulator.traffic.FieldMapping;
import dev.ratelimit.simulator.traffic.LogOptions;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.simulator.traffic.NamedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * Replays access logs through the limits of an {@code application.yml}, for tests such as: this configuration refuses
 * nobody of this log. Immutable; each method returns a changed copy.
 *
 * <pre>{@code
 * SimulationResult result = Simulation.of(Path.of("src/main/resources/application.yml"))
 *         .profiles("production")
 *         .replay(Path.of("src/test/resources/access.log"));
 * assertThat(result.refused()).isZero();
 * assertThat(result.leftOut()).isEmpty();
 * }</pre>
 */
public final class Simulation {

    private static final int KEPT_KEYS = 1_000;

    private final ConfigurationSource source;
    private final LogOptions options;
    private final boolean users;
    private final boolean stages;

    private Simulation(ConfigurationSource source, LogOptions options, boolean users, boolean stages) {
        this.source = source;
        this.options = options;
        this.users = users;
        this.stages = stages;
    }

    /**
     * {@return a simulation of these configurations, which are read as Spring Boot reads them}
     *
     * @param files of which later ones take precedence
     */
    public static Simulation of(Path... files) {
        return new Simulation(
                new ConfigurationSource(List.of(files), List.of(), Map.of()), LogOptions.DEFAULT, false, false);
    }

    /**
     * {@return a copy with these active profiles}
     *
     * @param profiles in place of those before
     */
    public Simulation profiles(String... profiles) {
        ConfigurationSource other = new ConfigurationSource(source.files(), List.of(profiles), source.properties());
        return new Simulation(other, options, users, stages);
    }

    /**
     * {@return a copy with a property, which takes precedence over the files}
     *
     * @param name such as {@code ratelimit.policies.login.limit}
     * @param value such as {@code 5/minute}
     */
    public Simulation property(String name, String value) {
        return new Simulation(source.with(Map.of(name, value)), options, users, stages);
    }

    /**
     * {@return a copy for logs in this format; by default, the first line decides}
     *
     * @param format {@code combined}, {@code common}, {@code json}, {@code csv}, or a log format of nginx, Apache or
     *     Tomcat
     */
    public Simulation format(String format) {
        return new Simulation(source, options.withFormat(format), users, stages);
    }

    /**
     * {@return a copy that finds the names of callers in this field}
     *
     * @param field the name of the field in the log
     */
    public Simulation userFrom(String field) {
        return with(options.mapping().with(Kind.USER, "", field), true);
    }

    /**
     * {@return a copy that finds the values of a header in this field}
     *
     * @param header its name
     * @param field the name of the field in the log
     */
    public Simulation headerFrom(String header, String field) {
        return with(options.mapping().with(Kind.HEADER, header.toLowerCase(Locale.ROOT), field), users);
    }

    private Simulation with(FieldMapping mapping, boolean named) {
        return new Simulation(source, options.withMapping(mapping), named, stages);
    }

    /** {@return a copy that charges policies before and after Spring Security, as applications with it do} */
    public Simulation withSecurity() {
        return new Simulation(source, options, users, true);
    }

    /**
     * Replays logs, with full budgets at the beginning.
     *
     * @param logs perhaps compressed with gzip; they are read as one, in the order of their times
     * @return what the limits do
     * @throws IOException if a log cannot be read
     * @throws RuntimeException if the configuration is wrong, with the message that the start of an application would show,
     *     or has no policy
     * @throws IllegalArgumentException if the format is not known, or the log lacks a field that was named
     */
    public SimulationResult replay(Path... logs) throws IOException {
        Environment environment = source.environment();
        LogEndpoints endpoints = new LogEndpoints(List.of(), SimulatedLimits.managementPath(environment));
        SimulatedLimits written = SimulatedLimits.of(source, endpoints);
        LogOptions own = options.withContextPath(SimulatedLimits.contextPath(environment));
        List<NamedFile> files = Stream.of(logs).map(NamedFile::of).toList();
        LogSummary summary = AccessLog.survey(files, own);
        SimulatedLimits limits = written.on(summary, users, Set.of()).requirePolicies(source);
        ReplayStatistics statistics = new ReplayStatistics(limits.rules().policiesInForce());
        try (AccessLog log = AccessLog.open(files, own)) {
            new Replay(limits, stages || summary.hasStages(), List.of(statistics)).run(log);
        }
        return result(limits, statistics, summary.malformed());
    }

    private static SimulationResult result(SimulatedLimits limits, ReplayStatistics statistics, long malformed) {
        KeyText keys = new KeyText(limits.rules().inForce(), true);
        Map<String, SimulationResult.PolicyResult> policies = new LinkedHashMap<>();
        for (PolicyStatistics policy : statistics.policies()) {
            List<String> refused = policy.mostRefused(KEPT_KEYS).stream()
                    .map(KeyCount::key)
                    .map(key -> keys.of(policy.name(), key))
                    .toList();
            policies.put(
                    policy.name(),
                    new SimulationResult.PolicyResult(policy.admitted(), policy.refused(), policy.keys(), refused));
        }
        return new SimulationResult(
                statistics.requests(), statistics.refused(), malformed, policies, limits.leftOut(), limits.notes());
    }

    /** The files, for messages. */
    @Override
    public String toString() {
        @Nullable String format = options.format();
        return "simulation of " + source.files() + (format == null ? "" : " on logs in the format " + format);
    }
}

package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say which limits are tried out. */
final class LimitInput {

    @Option(
            names = "--config",
            split = ",",
            paramLabel = "FILE",
            description = "The application.yml; of several, later ones take precedence.")
    List<Path> files = new ArrayList<>();

    @Option(names = "--profile", split = ",", paramLabel = "NAME", description = "Active profiles.")
    List<String> profiles = new ArrayList<>();

    @Option(
            names = "--property",
            paramLabel = "NAME=VALUE",
            description = "A property that takes precedence, such as ratelimit.policies.api.limit=10/minute.")
    Map<String, String> properties = new LinkedHashMap<>();

    @Option(
            names = "--limit",
            paramLabel = "LIMIT",
            description = "In place of a configuration: the limit for the keys of a trace or, with --key, of a log.")
    @Nullable
    String limit;

    @Option(names = "--key", paramLabel = "KEY", description = "Whose budget --limit is, such as ip or user.")
    @Nullable
    String key;

    @Option(names = "--algorithm", paramLabel = "NAME", description = "The algorithm of --limit.")
    @Nullable
    String algorithm;

    @Option(names = "--burst", paramLabel = "PERMITS", description = "The burst of --limit.")
    @Nullable
    String burst;

    @Option(names = "--refill", paramLabel = "HOW", description = "The refill of --limit.")
    @Nullable
    String refill;

    @Option(names = "--align", paramLabel = "HOW", description = "The align of --limit.")
    @Nullable
    String align;

    @Option(names = "--rounding", paramLabel = "HOW", description = "The rounding of --limit.")
    @Nullable
    String rounding;

    @Option(names = "--penalty", paramLabel = "DURATION", description = "The penalty of --limit.")
    @Nullable
    String penalty;

    @Option(
            names = "--policy-option",
            paramLabel = "NAME=VALUE",
            description = "Any other property of the policy of --limit, such as match.paths=/api/**.")
    Map<String, String> others = new LinkedHashMap<>();

    @Option(
            names = "--include",
            split = ",",
            paramLabel = "POLICY",
            description =
                    "Policies that are not left out although they read what the log lacks; it is missing in each request.")
    Set<String> included = new LinkedHashSet<>();

    @Option(
            names = "--security",
            description = "Spring Security runs in the application, so that policies are charged before and after it.")
    boolean security;

    /** Where the properties come from. */
    ConfigurationSource source(String policy) {
        for (Path file : files) {
            if (!Files.exists(file)) {
                throw new IllegalArgumentException("--config " + file + " does not exist");
            }
        }
        if (limit == null && files.isEmpty() && properties.isEmpty()) {
            throw new IllegalArgumentException(
                    "there are no limits; write --config application.yml, or --limit 10/minute");
        }
        Map<String, String> all = new LinkedHashMap<>(properties);
        if (limit != null) {
            if (!files.isEmpty()) {
                throw new IllegalArgumentException("--limit takes the place of --config; write one of them");
            }
            put(all, policy, "limit", limit);
            put(all, policy, "key", key);
            put(all, policy, "algorithm", algorithm);
            put(all, policy, "burst", burst);
            put(all, policy, "refill", refill);
            put(all, policy, "align", align);
            put(all, policy, "rounding", rounding);
            put(all, policy, "penalty", penalty);
            others.forEach((name, value) -> put(all, policy, name, value));
        }
        return new ConfigurationSource(files, profiles, all);
    }

    /** Checks that there are the policies of {@code --include}. */
    void checkIncluded(SimulatedLimits tried) {
        Set<String> known = new TreeSet<>(tried.properties().policies().keySet());
        Set<String> unknown = new TreeSet<>(included);
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("--include names no policy: " + String.join(", ", unknown)
                    + "; the policies are " + String.join(", ", known));
        }
    }

    private static void put(Map<String, String> all, String policy, String name, @Nullable String value) {
        if (value != null) {
            all.put("ratelimit.policies." + policy + "." + name, value);
        }
    }
}

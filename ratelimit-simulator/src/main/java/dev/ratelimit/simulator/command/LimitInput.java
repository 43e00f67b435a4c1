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
    ConfigurationSource source() {
        for (Path file : files) {
            if (!Files.exists(file)) {
                throw new IllegalArgumentException("--config " + file + " does not exist");
            }
        }
        return new ConfigurationSource(files, profiles, properties);
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
}

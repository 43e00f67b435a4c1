package dev.ratelimit.simulator.command;

import dev.ratelimit.Policy;
import dev.ratelimit.simulator.config.ChangedPolicy;
import dev.ratelimit.simulator.config.ConfigurationMistakeException;
import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.replay.TraceReplay;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Compares limits. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = "Replays the same traffic through two configurations, or through all algorithms.",
        sortOptions = false)
final class CompareCommand extends LogCommand {

    private static final List<String> ALGORITHMS =
            List.of("token-bucket", "fixed-window", "sliding-window", "sliding-log");

    @Option(
            names = "--with",
            split = ",",
            paramLabel = "FILE",
            description = "The other configuration; by default, all algorithms are compared.")
    List<Path> others = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = out();
        Progress progress = progress();
        ConfigurationSource source = limits.source(log.isTrace() ? Traffic.TRACE_POLICY : Traffic.LIMIT_POLICY);
        try (Traffic traffic = Traffic.open(source, limits, log, progress)) {
            Map<String, SimulatedLimits> sides = sides(traffic);
            limits.checkIncluded(sides.values());
            Map<String, ReplayStatistics> results = replay(traffic, sides);
            progress.end();
            print(out, results);
            traffic.log().summary().unread().forEach(unread -> line(out, "%s", unread));
            sides.forEach((name, side) -> side.leftOut()
                    .forEach((left, lack) -> line(
                            out,
                            "Policy '%s' of %s was left out, because the log lacks %s.",
                            left,
                            name,
                            String.join(", ", lack))));
            return statusOf(traffic.log().summary());
        }
    }

    /** Replays the traffic through all sides, in one pass. */
    private static Map<String, ReplayStatistics> replay(Traffic traffic, Map<String, SimulatedLimits> sides)
            throws IOException {
        Map<String, ReplayStatistics> results = new LinkedHashMap<>();
        List<Consumer<LoggedRequest>> replays = new ArrayList<>();
        List<Runnable> ends = new ArrayList<>();
        sides.forEach((name, side) -> {
            ReplayStatistics statistics = new ReplayStatistics(side.rules().policiesInForce());
            results.put(name, statistics);
            if (traffic.trace()) {
                TraceReplay replay = new TraceReplay(side, List.of(statistics));
                replays.add(replay::accept);
                ends.add(replay::end);
            } else {
                Replay replay = new Replay(side, traffic.stages(), List.of(statistics));
                replays.add(replay::accept);
                ends.add(replay::end);
            }
        });
        AccessLog log = traffic.log();
        for (LoggedRequest request = log.next(); request != null; request = log.next()) {
            for (Consumer<LoggedRequest> replay : replays) {
                replay.accept(request);
            }
        }
        ends.forEach(Runnable::run);
        return results;
    }

    private Map<String, SimulatedLimits> sides(Traffic traffic) throws IOException {
        Map<String, SimulatedLimits> sides = new LinkedHashMap<>();
        if (others.isEmpty()) {
            ALGORITHMS.forEach(algorithm -> sides.put(algorithm, with(traffic.limits(), algorithm)));
        } else {
            sides.put("--config", traffic.limits());
            ConfigurationSource other = new ConfigurationSource(others, limits.profiles, limits.properties);
            sides.put("--with", traffic.limitsOf(other, limits, log));
        }
        return sides;
    }

    /** The limits with another algorithm, where it has all that the limit needs. */
    private static SimulatedLimits with(SimulatedLimits limits, String algorithm) {
        return limits.with((name, policy) -> {
            Policy inForce = limits.rules().policiesInForce().stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElse(null);
            if (inForce == null || policy.limit() == null || inForce.concurrency()) {
                return policy;
            }
            PolicyProperties changed = ChangedPolicy.withLimit(
                    policy,
                    String.join(";", policy.limit()),
                    algorithm,
                    algorithm.equals("token-bucket") ? policy.burst() : null);
            try {
                SimulatedLimits unused = limits.withPolicies(Map.of(name, changed));
                return changed;
            } catch (ConfigurationMistakeException e) {
                // such as calendar months, which only fixed windows have
                return policy;
            }
        });
    }

    private static void print(PrintWriter out, Map<String, ReplayStatistics> results) {
        line(out, "%-32s %12s %12s %12s %12s", "", "admitted", "refused", "keys refused", "peak");
        results.forEach((name, statistics) -> {
            line(
                    out,
                    "%-32s %,12d %,12d %12s %,12d",
                    name,
                    statistics.requests() - statistics.refused(),
                    statistics.refused(),
                    "",
                    statistics.peakPerSecond());
            for (PolicyStatistics policy : statistics.policies()) {
                line(
                        out,
                        "  %-30s %,12d %,12d %,12d %,12d",
                        policy.name(),
                        policy.admitted(),
                        policy.refused(),
                        policy.refusedKeys(),
                        policy.admittedPeak());
            }
        });
        line(out, "The peak is of all requests in a second or, of a policy, of its permits in a period.");
    }

    private static void line(PrintWriter out, String format, Object... values) {
        out.print(String.format(Locale.ROOT, format, values) + "\n");
    }
}

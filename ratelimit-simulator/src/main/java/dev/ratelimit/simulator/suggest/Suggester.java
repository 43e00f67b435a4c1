package dev.ratelimit.simulator.suggest;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.simulator.config.ChangedPolicy;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.spring.Mode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.DoubleStream;

/**
 * Finds limits that fit recorded traffic. It passes twice: once to see how much keys ask for in a period, and once more to
 * see which bursts they take at rates around that. Not thread-safe.
 */
public final class Suggester {

    private static final int RATES = 24;

    private final SimulatedLimits limits;
    private final boolean stages;
    private final KeyShare share;
    private final List<String> notes = new ArrayList<>();

    /** Opens the traffic from its beginning. */
    public interface Opener {

        /** Opens it. */
        AccessLog open() throws IOException;
    }

    /**
     * Creates a suggester.
     *
     * @param limits whose policies get other limits
     * @param stages whether Spring Security runs
     * @param share of the keys of each policy that may be refused
     */
    public Suggester(SimulatedLimits limits, boolean stages, KeyShare share) {
        this.limits = limits;
        this.stages = stages;
        this.share = share;
    }

    /** Why policies have no suggestion. */
    public List<String> notes() {
        return notes;
    }

    /**
     * Finds limits.
     *
     * @param traffic is opened twice
     * @param untilNanos later requests are left out
     */
    public List<Suggestion> suggest(Opener traffic, long untilNanos) throws IOException {
        Map<String, Rate> policies = policies();
        Map<String, PeriodPeaks> peaks = new LinkedHashMap<>();
        policies.forEach((name, rate) -> peaks.put(name, new PeriodPeaks(rate.periodNanos())));
        observe(traffic, peaks, untilNanos);
        Map<String, PolicyDemand> demands = new LinkedHashMap<>();
        policies.forEach((name, rate) -> demands.put(
                name,
                new PolicyDemand(rates(Objects.requireNonNull(peaks.get(name)).sorted()), rate.periodNanos())));
        observe(traffic, demands, untilNanos);
        List<Suggestion> all = new ArrayList<>();
        policies.forEach((name, rate) -> add(all, name, rate, Objects.requireNonNull(demands.get(name))));
        return all;
    }

    /** The policies that get a limit, and the rate whose period it has. */
    private Map<String, Rate> policies() {
        Map<String, Rate> all = new LinkedHashMap<>();
        limits.properties().policies().forEach((name, written) -> {
            Policy policy = limits.rules().policiesInForce().stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElse(null);
            if (policy == null || written.mode() == Mode.OFF) {
                return;
            }
            if (!limits.isConfigured(name)) {
                notes.add("Policy '" + name + "' is written out in an annotation; its limit stays");
            } else if (policy.concurrency()) {
                notes.add("Policy '" + name + "' limits requests at the same time; its limit stays");
            } else if (!written.plans().isEmpty()) {
                notes.add("Policy '" + name + "' has limits by plan; they stay");
            } else {
                all.put(
                        name,
                        policy.limits().stream()
                                .map(Limit::rate)
                                .max(Comparator.comparingLong(Rate::periodNanos))
                                .orElseThrow());
            }
        });
        return all;
    }

    private void observe(Opener traffic, Map<String, ? extends Demand> demands, long untilNanos) throws IOException {
        SimulatedLimits shadows = limits.with(
                (name, policy) -> policy.mode() == Mode.OFF ? policy : ChangedPolicy.inMode(policy, Mode.SHADOW));
        DemandObserver observer = new DemandObserver(shadows.rules().inForce(), demands, untilNanos);
        try (AccessLog log = traffic.open()) {
            new Replay(shadows, stages, List.of(observer)).run(log);
        }
    }

    /** Rates around what the keys that may not be touched ask for in a period. */
    private static long[] rates(long[] sorted) {
        double most = sorted.length == 0 ? 1 : sorted[sorted.length - 1];
        double usual = sorted.length == 0 ? 1 : sorted[sorted.length / 2];
        double low = Math.max(1, usual / 4);
        double high = Math.max(low * 2, most * 1.2);
        return DoubleStream.iterate(low, rate -> rate * Math.pow(high / low, 1.0 / (RATES - 1)))
                .limit(RATES)
                .mapToLong(NiceNumber::atLeast)
                .distinct()
                .sorted()
                .toArray();
    }

    private void add(List<Suggestion> all, String name, Rate rate, PolicyDemand demand) {
        boolean byCaller = !limits.rules().inForce().rule(name).key().isShared();
        int allowed = byCaller ? (int) share.of(demand.keys()) : 0;
        LimitChoice choice = LimitChoice.of(demand, allowed);
        if (choice == null) {
            notes.add("Policy '" + name + "' is asked by no request; its limit stays");
            return;
        }
        String tooFew = byCaller ? share.tooFew(demand.keys()) : null;
        if (tooFew != null) {
            notes.add("Policy '" + name + "': " + tooFew);
        }
        if (demand.leftOut() > 0) {
            notes.add(String.format(
                    Locale.ROOT, "%,d requests of further keys of policy '%s' are left out", demand.leftOut(), name));
        }
        String period = rate.toString().substring(rate.toString().indexOf('/'));
        all.add(new Suggestion(
                name,
                choice.permits() + period,
                choice.burst() == choice.permits() ? null : choice.burst(),
                reason(choice, demand.keys(), byCaller)));
    }

    private static String reason(LimitChoice choice, int keys, boolean byCaller) {
        String others = String.format(
                Locale.ROOT,
                "%s need a burst of at most %,.0f at this rate",
                !byCaller ? "all requests together" : choice.touched() == 0 ? "all keys" : "the others",
                Math.ceil(choice.highestUntouched()));
        return choice.touched() == 0
                ? others
                : String.format(
                        Locale.ROOT,
                        "it refuses %,d of %,d keys, which would need a burst of at least %,.0f; %s",
                        choice.touched(),
                        keys,
                        Math.ceil(choice.lowestTouched()),
                        others);
    }

    /** The limits with what was suggested. */
    public SimulatedLimits apply(List<Suggestion> suggestions) {
        Map<String, Suggestion> all = new LinkedHashMap<>();
        suggestions.forEach(one -> all.put(one.policy(), one));
        return limits.with((name, policy) -> {
            Suggestion one = all.get(name);
            return one == null
                    ? policy
                    : ChangedPolicy.withLimit(policy, one.limit(), Algorithm.TOKEN_BUCKET.toString(), one.burst());
        });
    }
}

package dev.ratelimit.simulator.suggest;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.simulator.config.ChangedPolicy;
import dev.ratelimit.simulator.config.ConfigurationMistakeException;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.traffic.LogSource;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * Finds limits that fit recorded traffic. It passes twice: once to see how much keys ask for in a period, and once more to
 * see which bursts they take at rates around that. Not thread-safe.
 */
public final class Suggester {

    /** The name of the policy that protects the application as a whole. */
    public static final String TOTAL = "total";

    /** The name of the policy that limits each client. */
    public static final String PER_CLIENT = "per-client";

    private static final int RATES = 24;

    private final SimulatedLimits limits;
    private final boolean stages;
    private final Wish wish;
    private final Set<String> planned;
    private final List<String> notes = new ArrayList<>();

    /** Opens the traffic from its beginning. */
    public interface Opener {

        /** Opens it. */
        LogSource open() throws IOException;
    }

    /**
     * Creates a suggester.
     *
     * @param limits whose policies get other limits
     * @param stages whether Spring Security runs
     * @param planned the policies that no configuration has yet, so that they have no limit to compare with
     */
    public Suggester(SimulatedLimits limits, boolean stages, Wish wish, Set<String> planned) {
        this.planned = Set.copyOf(planned);
        this.limits = limits;
        this.stages = stages;
        this.wish = wish;
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
        List<Suggestion> all = new ArrayList<>();
        Map<String, Rate> policies = policies();
        if (wish.touched() != null && !policies.isEmpty()) {
            Map<String, PeriodPeaks> peaks = new LinkedHashMap<>();
            policies.forEach((name, rate) -> peaks.put(name, new PeriodPeaks(rate.periodNanos())));
            observe(traffic, peaks, untilNanos);
            Map<String, PolicyDemand> demands = new LinkedHashMap<>();
            policies.forEach((name, rate) -> demands.put(
                    name,
                    new PolicyDemand(
                            rates(Objects.requireNonNull(peaks.get(name)).sorted()), rate.periodNanos())));
            observe(traffic, demands, untilNanos);
            policies.forEach((name, rate) -> add(all, name, rate, Objects.requireNonNull(demands.get(name))));
        }
        Rate atMost = wish.atMost();
        if (atMost != null) {
            all.removeIf(suggestion -> isByCaller(suggestion.policy()));
            List<String> byCaller =
                    policies.keySet().stream().filter(this::isByCaller).toList();
            byCaller.forEach(name -> addAtMost(all, name, atMost));
            if (byCaller.stream().noneMatch(this::isOneBudgetOfEachCaller)) {
                all.add(ofAllCallers(byCaller, atMost));
            }
        }
        Rate protect = wish.protect();
        if (protect != null) {
            String shared = policies.keySet().stream()
                    .filter(this::countsAndRefusesAll)
                    .findFirst()
                    .orElse(null);
            all.removeIf(suggestion -> suggestion.policy().equals(shared));
            all.add(exact(shared == null ? unused(TOTAL) : shared, protect.toString(), shared == null));
        }
        return all;
    }

    /** A name that no policy has. */
    private String unused(String name) {
        String free = name;
        for (int i = 2; limits.properties().policies().containsKey(free); i++) {
            free = name + "-" + i;
        }
        return free;
    }

    /**
     * A new policy for the requests that no policy by caller is about.
     *
     * @param byCaller the policies by caller, whose keys tell how callers are told apart
     */
    private Suggestion ofAllCallers(List<String> byCaller, Rate atMost) {
        boolean users = byCaller.stream()
                .anyMatch(name -> rule(name).key().parts().stream().anyMatch(KeyPart::isUser));
        Suggestion exact = exact(unused(PER_CLIENT), atMost.toString(), true);
        return new Suggestion(
                exact.policy(),
                exact.limit(),
                null,
                exact.algorithm(),
                users ? "user" : "ip",
                true,
                byCaller.isEmpty()
                        ? exact.reason()
                        : "the other policies by caller are not about all requests; " + exact.reason());
    }

    /** Limits a policy to no more than this, and keeps what is stricter. */
    private void addAtMost(List<Suggestion> all, String name, Rate atMost) {
        if (planned.contains(name)) {
            all.add(exact(name, atMost.toString(), true));
            return;
        }
        PolicyProperties written = written(name);
        List<Rate> rates =
                rule(name).policy().limits().stream().map(Limit::rate).toList();
        boolean log = written.algorithm().equals("sliding-log");
        long burst = log ? 0 : Objects.requireNonNullElse(written.burst(), 0L);
        if (rates.stream()
                .anyMatch(rate ->
                        inPeriods(rate, atMost) + (log ? 0 : Math.max(burst, rate.permits())) <= atMost.permits())) {
            notes.add("Policy '" + name + "' admits no more than that already; its limit stays");
            return;
        }
        List<Rate> kept = new ArrayList<>(rates);
        kept.removeIf(rate -> rate.permits() >= inPeriods(atMost, rate));
        if (kept.stream().noneMatch(rate -> inPeriods(rate, atMost) <= atMost.permits())) {
            kept.add(atMost);
        }
        Suggestion exact = exact(name, kept.stream().map(Rate::toString).collect(Collectors.joining("; ")), false);
        try {
            SimulatedLimits unused = apply(List.of(exact));
            all.add(exact);
        } catch (ConfigurationMistakeException e) {
            notes.add("Policy '" + name + "' cannot be limited to that, so that its limit stays: " + e.getMessage());
        }
    }

    /** How much a sliding log of this rate admits in a period of the other one, at most. */
    private static double inPeriods(Rate rate, Rate other) {
        return rate.permits() * Math.ceil((double) other.periodNanos() / rate.periodNanos());
    }

    private static Suggestion exact(String policy, String limit, boolean isNew) {
        return new Suggestion(
                policy,
                limit,
                null,
                "sliding-log",
                null,
                isNew,
                "a sliding-log admits no more than that in any period, wherever it begins");
    }

    private Rule rule(String policy) {
        return limits.rules().inForce().rule(policy);
    }

    private boolean isByCaller(String policy) {
        return !rule(policy).key().isShared();
    }

    private PolicyProperties written(String policy) {
        return Objects.requireNonNull(limits.properties().policies().get(policy));
    }

    /** Whether each request costs one permit of one budget, and is refused without it. */
    private boolean countsAndRefusesAll(String policy) {
        return rule(policy).key().parts().isEmpty() && concernsAll(policy);
    }

    /** Whether each request costs one permit of the only budget of its caller, and is refused without it. */
    private boolean isOneBudgetOfEachCaller(String policy) {
        BudgetKey key = rule(policy).key();
        return key.parts().size() == 1
                && (key.missing() != MissingKey.SKIP
                        || key.parts().get(0).kind().isNeverMissing())
                && concernsAll(policy);
    }

    /** Whether each request costs one permit, and is refused without it. */
    private boolean concernsAll(String policy) {
        PolicyProperties written = written(policy);
        return appliesEverywhere(written.match())
                && limits.rules().inForce().mode(policy) == Mode.ENFORCE
                && written.count().isEmpty()
                && written.free().isEmpty()
                && written.overrides().isEmpty()
                && written.permits().equals("1");
    }

    private static boolean appliesEverywhere(PolicyProperties.Match match) {
        return match.paths().isEmpty()
                && match.exceptPaths().isEmpty()
                && match.methods().isEmpty()
                && match.when() == null
                && !match.annotated();
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
        try (LogSource log = traffic.open()) {
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
        boolean byCaller = isByCaller(name);
        int allowed = byCaller ? (int) wish.allowed(demand.keys()) : 0;
        LimitChoice choice = LimitChoice.of(demand, allowed);
        if (choice == null) {
            notes.add("Policy '" + name + "' is asked by no request; its limit stays");
            return;
        }
        String tooFew = byCaller ? wish.tooFew(demand.keys()) : null;
        if (tooFew != null) {
            notes.add("Policy '" + name + "': " + tooFew);
        }
        String limit =
                choice.permits() + rate.toString().substring(rate.toString().indexOf('/'));
        String reason = reason(choice, demand.keys(), byCaller);
        if (demand.leftOut() > 0) {
            notes.add(String.format(
                    Locale.ROOT, "%,d requests of further keys of policy '%s' are left out", demand.leftOut(), name));
        }
        all.add(new Suggestion(
                name,
                limit,
                choice.burst() == choice.permits() ? null : choice.burst(),
                "token-bucket",
                null,
                planned.contains(name),
                reason));
    }

    private static String reason(LimitChoice choice, int keys, boolean byCaller) {
        String others = String.format(
                Locale.ROOT,
                "at this rate, %s take a burst of up to %,.0f",
                !byCaller ? "all requests together" : choice.touched() == 0 ? "all keys" : "the other keys",
                Math.ceil(choice.highestUntouched()));
        return choice.touched() == 0
                ? others
                : String.format(
                        Locale.ROOT,
                        "it refuses %,d of %,d keys, which take a burst of %,.0f or more; %s",
                        choice.touched(),
                        keys,
                        Math.ceil(choice.lowestTouched()),
                        others);
    }

    private static PolicyProperties created(Suggestion one) {
        PolicyProperties created = PolicyProperties.of(one.limit());
        String key = one.key();
        return key == null ? created : ChangedPolicy.withKey(created, key);
    }

    /** The limits with what was suggested, and without planned policies that were not. */
    public SimulatedLimits apply(List<Suggestion> suggestions) {
        Map<String, PolicyProperties> policies =
                new LinkedHashMap<>(limits.properties().policies());
        for (Suggestion one : suggestions) {
            PolicyProperties before = policies.getOrDefault(one.policy(), created(one));
            policies.put(one.policy(), ChangedPolicy.withLimit(before, one.limit(), one.algorithm(), one.burst()));
        }
        policies.keySet()
                .removeIf(name -> planned.contains(name)
                        && suggestions.stream().noneMatch(one -> one.policy().equals(name)));
        return limits.withPolicies(policies);
    }
}

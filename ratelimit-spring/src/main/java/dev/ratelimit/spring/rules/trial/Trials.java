package dev.ratelimit.spring.rules.trial;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The trials of other limits on this instance, at most one for each policy, which are told what the limits in force have
 * decided. A trial charges budgets of its own, also for a request that its policy refuses, so it is no policy in shadow mode:
 * that one charges nothing where another policy refuses. Thread-safe.
 */
public final class Trials implements OutcomeCounter {

    /** The maximum number of trials that run at once. */
    public static final int MAX = 10;

    private static final String AT_ONCE = "a limit of requests at once cannot be tried, only one with a period";

    /** What a trial says itself, as properties. */
    private static final Set<String> FIELDS = Set.of("limit", "burst", "algorithm");

    private final RequestRules rules;
    private final Ticker ticker;

    /** By policy; those that are over until another one, or until somebody ends them. */
    private final Map<String, Trial> trials = new ConcurrentHashMap<>();

    public Trials(RequestRules rules, Ticker ticker) {
        this.rules = rules;
        this.ticker = ticker;
        rules.whenReplaced(this::endOthers);
    }

    /** Counts nothing by policy. */
    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {}

    @Override
    public @Nullable Runnable decided(Rule rule, Charge charge, boolean refused, RequestContext request) {
        Trial trial = trials.isEmpty() ? null : trials.get(rule.policy().name());
        return trial == null ? null : trial.decide(charge, refused, request);
    }

    /**
     * Starts a trial, in place of the last one of this policy.
     *
     * @param by who asks; {@code null} for the application itself
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the policy cannot have the limits, is off, or too many trials run
     * @throws RateLimitConfigurationException likewise, if the limits are wrong
     */
    public synchronized Trial start(String policy, RateLimitTrial asked, @Nullable String by) {
        WellFormed.check("reason", asked.reason());
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        if (now.mode(policy) == Mode.OFF) {
            throw new IllegalArgumentException(
                    "the policy is off, so no request would reach the trial; change its mode");
        }
        if (rule.holds()) {
            throw new IllegalArgumentException(AT_ONCE);
        }
        List<Limit> limits = limits(policy, asked);
        long others = trials.entrySet().stream()
                .filter(one ->
                        !one.getKey().equals(policy) && one.getValue().result().running())
                .count();
        if (others >= MAX) {
            throw new IllegalArgumentException(
                    "at most " + MAX + " trials can run at once on an instance; end another one before");
        }
        Trial trial = new Trial(rule, limits, asked, by, ticker);
        Trial before = trials.put(policy, trial);
        if (before != null) {
            before.end();
        }
        return trial;
    }

    /** As a change of the policy would have them, and the configuration with another algorithm. */
    private List<Limit> limits(String policy, RateLimitTrial asked) {
        String algorithm = asked.algorithm();
        if (algorithm != null && algorithm.strip().equals(Algorithm.CONCURRENCY.toString())) {
            throw new IllegalArgumentException(AT_ONCE);
        }
        // the burst of the policy may be that of an algorithm without one
        Long burst = asked.burst() == null && algorithm != null ? Long.valueOf(0) : asked.burst();
        Map<String, RateLimitChange> changes = new HashMap<>(rules.changes());
        changes.merge(
                policy, new RateLimitChange(asked.limit(), burst, null), (earlier, later) -> later.after(earlier));
        try {
            RulesInForce then = algorithm == null
                    ? rules.read(changes).rules()
                    : rules.readWith(changes, policy, algorithm.strip());
            return then.rule(policy).policy().limits();
        } catch (RateLimitConfigurationException e) {
            throw inWordsOfTheRequest(e, policy);
        }
    }

    /** Nobody has written the limit of a trial as a property. */
    private static RateLimitConfigurationException inWordsOfTheRequest(
            RateLimitConfigurationException mistake, String policy) {
        String properties = "ratelimit.policies." + policy;
        String where = mistake.where();
        if (!where.equals(properties) && !where.startsWith(properties + ".")) {
            return mistake;
        }
        String property = where.equals(properties) ? "limit" : where.substring(properties.length() + 1);
        String reason = mistake.remedy() == null ? mistake.reason() : mistake.reason() + "; " + mistake.remedy();
        return new RateLimitConfigurationException(
                FIELDS.contains(property) ? property : property + " of the policy", mistake.written(), reason);
    }

    /** The budgets of a policy with another key are others, and no trial goes on with them. */
    private void endOthers(RulesInForce now) {
        trials.forEach((policy, trial) -> {
            Rule rule = now.byPolicy().get(policy);
            if (rule == null || !trial.isOf(rule)) {
                trial.end();
            }
        });
    }

    /**
     * The last trial of a policy; {@code null} if there was none, or somebody has ended it.
     *
     * @throws UnknownPolicyException if there is no such policy
     */
    public @Nullable Trial of(String policy) {
        Rule unused = rules.including(policy).rule(policy);
        return trials.get(policy);
    }

    /**
     * Ends a trial, and forgets it.
     *
     * @return the trial; {@code null} if there is none
     * @throws UnknownPolicyException if there is no such policy
     */
    public synchronized @Nullable Trial end(String policy) {
        Rule unused = rules.including(policy).rule(policy);
        Trial trial = trials.remove(policy);
        if (trial != null) {
            trial.end();
        }
        return trial;
    }
}

package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StageCharges;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.mistake.UnansweredPatterns;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What would become of a request: the request passes through the stages as any other, but its charges are only asked
 * for. Not thread-safe.
 */
final class Explanation {

    /**
     * What one policy does with the request.
     *
     * @param met as the policy sees the request; {@code null} if it does not look at it
     */
    private record Step(
            Rule rule,
            String outcome,
            @Nullable Charge charge,
            List<LimitStatus> limits,
            @Nullable RequestContext met) {

        Step(Rule rule, String outcome) {
            this(rule, outcome, null, List.of(), null);
        }

        Step because(String other) {
            return new Step(rule, other, charge, limits, met);
        }

        Step by(RequestContext context) {
            return new Step(rule, outcome, charge, limits, context);
        }
    }

    /** The outcome under a policy that would admit, if another one did not refuse. */
    private static final String NOT_CHARGED = "not-charged";

    /** The outcome under a policy that depends on the arguments of the handler, which only its call has. */
    private static final String AT_CALL = "decided-at-the-call";

    private static final String FREE_MANAGEMENT = "a management endpoint, charged only under policies whose match.paths"
            + " name it (ratelimit.exempt.management)";

    private static final String NO_HANDLER =
            "no handler answers this request; if a filter of Spring Security does, as it may"
                    + " with a login, the request does not get to the policies of stage after-security";

    private final RulesInForce rules;
    private final RateLimitStore store;
    private final OverrideReport overrides;
    private final List<Step> steps = new ArrayList<>();
    private boolean refused;

    /** Whether the request passes Spring Security between two stages. */
    private boolean stages;

    Explanation(RulesInForce rules, RateLimitStore store, OverrideReport overrides) {
        this.rules = rules;
        this.store = new Asking(store);
        this.overrides = overrides;
    }

    /** Decides by asking. */
    private static final class Asking extends ForwardingStore {

        Asking(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            return peek(charges);
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            // nothing was charged
        }

        @Override
        public boolean reset(Policy policy, String key) {
            throw new UnsupportedOperationException();
        }
    }

    /**
     * Passes the request through the stages.
     *
     * @param before the request before Spring Security; {@code null} if there is a single stage
     * @param after the request at the last stage
     * @param named the policies that its route names; empty for none
     */
    Map<String, Object> of(
            @Nullable WebRequest before, WebRequest after, List<String> named, KeyDisplay keys, boolean plain) {
        stages = before != null;
        RequestContext context = rules.context(before == null ? after : before);
        if (rules.isFreePreflight(context.request())) {
            return result(context, "a CORS preflight is not charged", keys, plain);
        }
        if (before == null) {
            pass(rules.applyTo(context, null, store), context);
        } else {
            StageCharges early = rules.applyTo(context, Stage.BEFORE_SECURITY, store);
            pass(early, context);
            context = context.at(after);
            if (!refused) {
                passNext(rules.applyTo(context, Stage.AFTER_SECURITY, store), context);
            }
        }
        if (!refused && !named.isEmpty()) {
            passNext(rules.applyNamed(context, notMet(named), store), context);
        }
        if (!refused) {
            rules.of(context).call().forEach(rule -> steps.add(new Step(rule, AT_CALL)));
        }
        return result(context, rules.isFreeManagement(context) ? FREE_MANAGEMENT : unanswered(context), keys, plain);
    }

    /** Where no handler answers, a filter of Spring Security may do so, and policies behind it are not asked then. */
    private @Nullable String unanswered(RequestContext context) {
        return stages
                        && UnansweredPatterns.mayBeOfSecurity(context.path().value())
                        && !context.endpoint().answers(context.request().method())
                        && steps.stream().anyMatch(step -> step.rule().stage() == Stage.AFTER_SECURITY)
                ? NO_HANDLER
                : null;
    }

    /** Passes another stage, which may know what the ones before could not. */
    private void passNext(StageCharges stage, RequestContext context) {
        steps.replaceAll(step -> stage.rules().exemption().from().test(step.rule())
                ? new Step(step.rule(), Outcome.EXEMPT.tag())
                : step);
        int before = steps.size();
        pass(stage, context);
        if (refused) {
            // what was taken before is given back
            steps.subList(0, before).replaceAll(step -> step.because(NOT_CHARGED));
        }
    }

    private List<String> notMet(List<String> policies) {
        return policies.stream()
                .distinct()
                .filter(policy -> steps.stream()
                        .noneMatch(step -> step.rule().policy().name().equals(policy)))
                .toList();
    }

    private void pass(StageCharges stage, RequestContext context) {
        List<Charge> asked = stage.rules().charges();
        boolean admitted = stage.charge();
        Map<String, Outcome> outcomes = new HashMap<>();
        OutcomeCounter counter = (policy, key, outcome, request) -> outcomes.put(policy, outcome);
        if (admitted) {
            stage.countAdmitted(counter, context);
        } else {
            stage.countRefused(counter, context);
        }
        stage.rules().uncharged().stream()
                .filter(one -> !one.counted())
                .forEach(one -> outcomes.put(one.rule().policy().name(), one.outcome()));
        Map<String, Step> found = new LinkedHashMap<>();
        for (Charge charge : asked) {
            found.put(
                    charge.policy().name(),
                    step(charge, outcomes.get(charge.policy().name()), stage));
        }
        outcomes.forEach(
                (policy, outcome) -> found.computeIfAbsent(policy, name -> new Step(rules.rule(name), outcome.tag())));
        refused |= !admitted;
        found.replaceAll(
                (policy, step) -> stage.rules().exemption().from().test(step.rule()) ? step : step.by(context));
        steps.addAll(inOrder(found, context));
    }

    /** A rule that admits a request that another one refuses takes nothing. */
    private Step step(Charge charge, @Nullable Outcome outcome, StageCharges stage) {
        List<LimitStatus> limits = stage.asked().stream()
                .filter(limit -> limit.charge().sameBudget(charge))
                .toList();
        Rule rule = rules.rule(charge.policy().name());
        return new Step(
                rule,
                outcome == null ? NOT_CHARGED : outcome.tag(),
                charge,
                limits.isEmpty() ? peek(charge) : limits,
                null);
    }

    /** The limits of a policy that was not asked, because another one refuses whatever is left. */
    private List<LimitStatus> peek(Charge charge) {
        try {
            return store.peek(List.of(charge)).limits();
        } catch (StoreUnavailableException e) {
            return List.of();
        }
    }

    /** First the rules of annotations, then the configured ones, in the order in which they apply. */
    private List<Step> inOrder(Map<String, Step> found, RequestContext context) {
        List<Step> ordered = new ArrayList<>();
        for (Rule rule : rules.of(context).rules()) {
            Step step = found.remove(rule.policy().name());
            if (step != null) {
                ordered.add(step);
            }
        }
        ordered.addAll(found.values());
        return ordered;
    }

    private Map<String, Object> result(
            RequestContext context, @Nullable String remark, KeyDisplay keys, boolean plain) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("method", context.request().method());
        result.put("path", context.path().value());
        result.put("endpoint", context.endpoint().id());
        String route = context.request().route();
        if (route != null) {
            result.put("route", route);
        }
        result.put("admitted", !refused);
        if (remark != null) {
            result.put("remark", remark);
        }
        result.put(
                "policies",
                steps.stream().map(step -> describe(step, keys, plain)).toList());
        return result;
    }

    private Map<String, Object> describe(Step step, KeyDisplay keys, boolean plain) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("policy", step.rule().policy().name());
        if (stages) {
            map.put("stage", PropertyName.of(step.rule().stage()));
        }
        map.put("outcome", step.outcome());
        Charge charge = step.charge();
        RequestContext request = step.met();
        String key = charge != null
                ? charge.key()
                : request == null ? "" : step.rule().key().of(request);
        if (key != null && !key.isEmpty()) {
            map.put("key", keys.show(step.rule(), key, plain));
        }
        if (request != null) {
            addLimits(map, step.rule(), key, request, plain);
        }
        if (charge != null) {
            map.put("permits", charge.permits());
            map.put("limits", step.limits().stream().map(PolicyReport::status).toList());
        }
        return map;
    }

    /** Adds whose limits these are, and what is there in place of limits. */
    private void addLimits(
            Map<String, Object> map, Rule rule, @Nullable String key, RequestContext request, boolean plain) {
        LiveOverrides.Entry live = rules.liveOverride(rule, request);
        LimitOverride override = live == null ? rule.override(request) : live.override();
        boolean byHand = live != null || rule.overrides().areByHand(request);
        if (key == null
                && rule.key().missing() == MissingKey.REJECT
                && !(byHand && override instanceof LimitOverride.Fixed)) {
            map.put("missing", Objects.toString(rule.key().missingPart(request)));
            map.put(
                    "remark",
                    "a request without this part of the key, or with several values of it, is answered with 400");
            return;
        }
        String plan = live == null ? rule.overrides().planOf(request) : null;
        if (plan != null) {
            map.put("plan", plan);
        }
        if (override instanceof LimitOverride.Fixed fixed) {
            map.put("override", PropertyName.of(fixed));
        }
        overrides.addMet(map, rule, live, plain);
    }
}

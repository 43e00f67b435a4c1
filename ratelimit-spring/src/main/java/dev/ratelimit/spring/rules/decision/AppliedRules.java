package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rules that apply to a request at one stage, and what each of them charges. Not thread-safe. */
public class AppliedRules {

    /** A required part of the rule's key that the request has no value for. */
    record Lack(Rule rule, KeyPart part) {}

    /**
     * Rules that the request is exempt from, even if they match it.
     *
     * @param from whether it is exempt from a rule
     * @param counted whether it counts as exempt under them; otherwise it is none of their business
     */
    public record Exemption(Predicate<Rule> from, boolean counted) {

        /** From no rule. */
        static final Exemption NONE = new Exemption(rule -> false, true);

        /** From all rules. */
        static final Exemption ALL = new Exemption(rule -> true, true);
    }

    /**
     * A rule that charges nothing.
     *
     * @param outcome of the request under it
     * @param key whose request it refuses, or would without shadow mode; {@code null} if it is admitted, or has no key
     * @param counted whether the request counts under it
     */
    public record Uncharged(
            Rule rule, Outcome outcome, @Nullable String key, boolean counted) {}

    /** All rules, by the names of their policies. */
    Map<String, Rule> rules;

    private final Exemption exemption;

    /** One for each budget. */
    final List<Charge> charges = new ArrayList<>(4);

    public List<Uncharged> uncharged = List.of();

    /** The names of the policies whose refusals are only recorded; few requests have any. */
    private List<String> shadows = List.of();

    /** What was charged although the request turned out to be exempt. */
    List<Charge> without = List.of();

    /** Whether a rule refuses the request regardless of its budget. */
    boolean denied;

    /** Whether the request may wait for permits. */
    private boolean mayWait;

    /** Whether the request holds permits until it is complete. */
    boolean holding;

    /** The names of the policies whose permits do not count requests, so that the application may settle them. */
    List<String> metered = List.of();

    private @Nullable Lack lack;

    AppliedRules(Map<String, Rule> rules, Exemption exemption) {
        this.rules = rules;
        this.exemption = exemption;
    }

    /** Applies a rule to a matching request. */
    void add(Rule rule, RequestContext context) {
        if (exemption.from().test(rule)) {
            addExempt(rule, exemption);
            return;
        }
        if (rule.shadow()) {
            shadows = plus(shadows, rule.policy().name());
        }
        LimitOverride override = rule.override(context);
        if (override instanceof LimitOverride.Limited limited) {
            charge(rule, limited, context);
        } else if (override == LimitOverride.Fixed.BLOCKED) {
            addRefused(rule, rule.key().of(context));
        } else {
            addUncharged(rule, override == LimitOverride.Fixed.EXEMPT ? Outcome.EXEMPT : Outcome.UNLIMITED);
        }
    }

    private void charge(Rule rule, LimitOverride.Limited limits, RequestContext context) {
        String key = rule.key().of(context);
        if (key != null) {
            holding |= rule.holds();
            mayWait |= rule.onExceeded().waits() && !rule.shadow();
            if (!rule.cost().isOne() && !rule.holds()) {
                metered = plus(metered, rule.policy().name());
            }
            add(limits.charge(key, rule.cost().permits().applyAsLong(context)));
        } else if (rule.key().missing() == MissingKey.REJECT) {
            if (lack == null && !rule.shadow()) {
                KeyPart part = rule.key().missingPart(context);
                lack = part == null ? null : new Lack(rule, part);
            }
            addRefused(rule, null);
        }
    }

    /** Whether refusals by this policy are only recorded. */
    private boolean isShadow(String policy) {
        return shadows.contains(policy);
    }

    private void addRefused(Rule rule, @Nullable String key) {
        Outcome outcome = rule.shadow() ? Outcome.SHADOW_REFUSED : Outcome.REFUSED;
        uncharged = plus(uncharged, new Uncharged(rule, outcome, key, true));
        denied |= outcome == Outcome.REFUSED;
    }

    /** Notes that the request is exempt from a rule. */
    void addExempt(Rule rule, Exemption by) {
        uncharged = plus(uncharged, new Uncharged(rule, Outcome.EXEMPT, null, by.counted()));
    }

    /** An endpoint may name a policy several times, at costs that add up. */
    private void add(Charge charge) {
        for (int i = 0; i < charges.size(); i++) {
            Charge before = charges.get(i);
            if (before.sameBudget(charge)) {
                charges.set(i, before.plus(charge.permits()));
                return;
            }
        }
        charges.add(charge);
    }

    void addUncharged(Rule rule, Outcome outcome) {
        uncharged = plus(uncharged, new Uncharged(rule, outcome, null, true));
    }

    /** The same list with one more element; only a list that is needed is created. */
    static <T> List<T> plus(List<T> list, T element) {
        List<T> all = list.isEmpty() ? new ArrayList<>(4) : list;
        all.add(element);
        return all;
    }

    public Exemption exemption() {
        return exemption;
    }

    /** Takes out a policy in shadow mode, so that the others can be charged; returns whether it was one. */
    boolean takeOutShadow(String policy, Outcome outcome) {
        if (!isShadow(policy)) {
            return false;
        }
        String key = null;
        boolean out = false;
        for (int i = charges.size() - 1; i >= 0; i--) {
            if (charges.get(i).policy().name().equals(policy)) {
                key = charges.remove(i).key();
                out = true;
            }
        }
        if (out) {
            uncharged = plus(uncharged, new Uncharged(ruleOf(policy), outcome, key, true));
        }
        return out;
    }

    /** Without the limits of policies in shadow mode and of those that the request is exempt from. */
    List<LimitStatus> enforced(List<LimitStatus> limits) {
        return shadows.isEmpty() && without.isEmpty()
                ? limits
                : limits.stream()
                        .filter(limit -> !isShadow(limit.policy().name()) && !without.contains(limit.charge()))
                        .toList();
    }

    /** The required part that the request lacks; {@code null} if it lacks none. */
    @Nullable
    Lack lack() {
        return lack;
    }

    /** Whether the request can wait for permits instead of being refused. */
    boolean mayWait() {
        return mayWait && !denied;
    }

    /** The charges without those to policies in shadow mode, which make nobody wait. */
    List<Charge> enforced() {
        return charges.stream()
                .filter(charge -> !isShadow(charge.policy().name()))
                .toList();
    }

    /** Replaces limits that have been changed since; those of plans and overrides do not change. */
    @SuppressWarnings("ReferenceEquality") // a plan may have the same limits
    void renew(RulesInForce now) {
        for (int i = charges.size() - 1; i >= 0; i--) {
            Charge charge = charges.get(i);
            String name = charge.policy().name();
            Rule then =
                    charge.policy() == ruleOf(name).policy() ? now.byPolicy().get(name) : null;
            if (then != null) {
                charges.set(i, then.policy().charge(charge.key(), charge.permits()));
            }
            if (now.mode(name) == Mode.OFF) {
                charges.remove(i);
            } else if (now.mode(name) == Mode.SHADOW && !isShadow(name)) {
                shadows = plus(shadows, name);
            }
        }
        rules = now.byPolicy();
    }

    /** What is charged, one for each budget; without the policies in shadow mode that have refused. */
    public List<Charge> charges() {
        return Collections.unmodifiableList(charges);
    }

    /** The rule of this policy, or of one with the limits of a plan or an override. */
    Rule ruleOf(Policy policy) {
        return ruleOf(policy.name());
    }

    /** The rule of the policy with this name. */
    Rule ruleOf(String policy) {
        return Objects.requireNonNull(rules.get(policy));
    }
}

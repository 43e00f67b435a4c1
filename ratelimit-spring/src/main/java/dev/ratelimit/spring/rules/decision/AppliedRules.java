package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rules that apply to a request at one stage, each with what it charges or why it charges nothing. Not thread-safe. */
public final class AppliedRules {

    /** What is charged after these rules have admitted the request. */
    enum Next {
        /** The rules of the next stage. */
        STAGE,
        /** The call of the handler. */
        CALL,
        NOTHING
    }

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
     * A rule and its charge. An endpoint may name a policy several times, at costs that add up to one charge.
     *
     * @param shadow whether its refusals are only recorded
     * @param metered whether its permits do not count requests, so that the application may settle them
     */
    public record Charged(Rule rule, Charge charge, boolean shadow, boolean metered) {

        Charged plus(Charged other) {
            return new Charged(rule, charge.plus(other.charge.permits()), shadow, metered || other.metered);
        }

        boolean isOf(String policy) {
            return charge.policy().name().equals(policy);
        }

        /** Whether its limits are those that a change of the policy changes, not those of a plan or an override. */
        @SuppressWarnings("ReferenceEquality") // a plan may have the same limits
        public boolean isOfOwnLimits() {
            return charge.policy() == rule.policy();
        }
    }

    /**
     * A rule that charges nothing.
     *
     * @param outcome of the request under it
     * @param key whose request it refuses, or would without shadow mode; {@code null} if it is admitted, or has no key
     * @param refused what the limits would have refused without shadow mode; {@code null} if they were not asked
     * @param counted whether the request counts under it
     */
    public record Uncharged(
            Rule rule,
            Outcome outcome,
            @Nullable String key,
            @Nullable Charged refused,
            boolean counted) {}

    private final Exemption exemption;
    private final Next next;

    /** One for each budget; without the policies in shadow mode that have refused. */
    private final List<Charged> charged = new ArrayList<>(4);

    private List<Uncharged> uncharged = List.of();

    private @Nullable Lack lack;

    /** How long the request will be blocked. */
    private long blockedNanos;

    /** Whether stores may be asked about limits that are not enforced. */
    private boolean asksMore;

    /** Whether a rule holds permits until the request is complete. */
    private boolean holding;

    /** Whether the permits of a rule do not count requests. */
    private boolean metered;

    /** Whether a rule is free for some statuses of the response. */
    private boolean dependent;

    AppliedRules(Exemption exemption, Next next) {
        this.exemption = exemption;
        this.next = next;
    }

    /**
     * Applies a rule to a matching request.
     *
     * @param live the overrides of single keys that operators have set; {@code null} for none
     */
    void add(Rule rule, @Nullable LiveOverrides live, RequestContext context) {
        if (exemption.from().test(rule)) {
            addExempt(rule, exemption);
            return;
        }
        String key = live == null ? null : rule.key().of(context);
        LiveOverrides.Entry own = live == null ? null : live.entry(key, context);
        LimitOverride override = own == null ? rule.override(context) : own.override();
        if (own == null && override instanceof LimitOverride.Fixed && isRejectedByPlan(rule, context)) {
            addLacking(rule, context);
        } else if (override instanceof LimitOverride.Limited limited) {
            charge(rule, limited, live == null ? rule.key().of(context) : key, context);
        } else if (override == LimitOverride.Fixed.BLOCKED) {
            if (!rule.shadow()) {
                long rest = live == null || own == null || isBlockedByHand(rule, context)
                        ? LiveOverrides.NEVER
                        : live.restNanos(own);
                blockedNanos = Math.max(blockedNanos, rest);
            }
            addRefused(rule, live == null ? rule.key().of(context) : key);
        } else {
            Outcome outcome = override == LimitOverride.Fixed.EXEMPT ? Outcome.EXEMPT : Outcome.UNLIMITED;
            add(new Uncharged(rule, outcome, null, null, true));
        }
    }

    /** Whether the configuration blocks the caller, without asking for a plan. */
    private static boolean isBlockedByHand(Rule rule, RequestContext context) {
        return rule.overrides().areByHand(context) && rule.override(context) == LimitOverride.Fixed.BLOCKED;
    }

    private void charge(Rule rule, LimitOverride.Limited limits, @Nullable String key, RequestContext context) {
        if (key != null) {
            add(rule, limits.charge(key, rule.permitsOf(context)));
        } else if (rule.key().missing() == MissingKey.REJECT) {
            addLacking(rule, context);
        }
    }

    /** Whether the request has no key, and so no plan, not even that of all others. Overrides by address need no key. */
    private static boolean isRejectedByPlan(Rule rule, RequestContext context) {
        return rule.key().missing() == MissingKey.REJECT
                && rule.key().of(context) == null
                && !rule.overrides().areByHand(context);
    }

    private void addLacking(Rule rule, RequestContext context) {
        if (lack == null && !rule.shadow()) {
            KeyPart part = rule.key().missingPart(context);
            lack = part == null ? null : new Lack(rule, part);
        }
        addRefused(rule, null);
    }

    private void add(Rule rule, Charge charge) {
        asksMore |= rule.shadow();
        holding |= rule.holds();
        metered |= rule.metered();
        dependent |= rule.free() != null;
        Charged one = new Charged(rule, charge, rule.shadow(), rule.metered());
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).charge().sameBudget(charge)) {
                charged.set(i, charged.get(i).plus(one));
                return;
            }
        }
        charged.add(one);
    }

    private void addRefused(Rule rule, @Nullable String key) {
        add(new Uncharged(rule, rule.shadow() ? Outcome.SHADOW_REFUSED : Outcome.REFUSED, key, null, true));
    }

    private void addExempt(Rule rule, Exemption by) {
        add(new Uncharged(rule, Outcome.EXEMPT, null, null, by.counted()));
    }

    /** Few requests have any. */
    private void add(Uncharged one) {
        if (uncharged.isEmpty()) {
            uncharged = new ArrayList<>(4);
        }
        uncharged.add(one);
    }

    /** Takes out a policy in shadow mode, so that the others can be charged; returns whether it was one. */
    boolean takeOutShadow(String policy, Outcome outcome) {
        Uncharged first = null;
        for (Iterator<Charged> all = charged.iterator(); all.hasNext(); ) {
            Charged one = all.next();
            if (one.shadow() && one.isOf(policy)) {
                all.remove();
                first = first == null
                        ? new Uncharged(one.rule(), outcome, one.charge().key(), one, true)
                        : first;
            }
        }
        if (first != null) {
            add(first);
        }
        return first != null;
    }

    /** Takes out the rules that the request turns out to be exempt from; returns their charges. */
    List<Charge> takeOut(Exemption exempt) {
        List<Charge> out = new ArrayList<>();
        asksMore = true;
        charged.removeIf(one -> {
            boolean from = exempt.from().test(one.rule());
            if (from) {
                out.add(one.charge());
                addExempt(one.rule(), exempt);
            }
            return from;
        });
        holding = charged.stream().anyMatch(one -> one.rule().holds());
        metered = charged.stream().anyMatch(Charged::metered);
        return out;
    }

    /** Replaces limits that have been changed since; those of plans and overrides do not change. */
    void renew(RulesInForce now) {
        asksMore = true;
        charged.replaceAll(one -> {
            String name = one.charge().policy().name();
            Rule rule = now.byPolicy().getOrDefault(name, one.rule());
            Charge charge = one.isOfOwnLimits()
                    ? rule.policy().charge(one.charge().key(), one.charge().permits())
                    : one.charge();
            return new Charged(rule, charge, one.shadow() || now.mode(name) == Mode.SHADOW, one.metered());
        });
        charged.removeIf(one -> now.mode(one.charge().policy().name()) == Mode.OFF);
    }

    /** What is charged, one for each budget; without the policies in shadow mode that have refused. */
    public List<Charge> charges() {
        Charge[] charges = new Charge[charged.size()];
        Arrays.setAll(charges, i -> charged.get(i).charge());
        return List.of(charges);
    }

    /** The charges without those to policies in shadow mode, which make nobody wait. */
    List<Charge> enforced() {
        return charged.stream()
                .filter(one -> !one.shadow())
                .map(Charged::charge)
                .toList();
    }

    /** Without the limits of policies in shadow mode and of those that the request is exempt from. */
    List<LimitStatus> enforced(List<LimitStatus> limits) {
        return asksMore ? limits.stream().filter(this::isEnforced).toList() : limits;
    }

    private boolean isEnforced(LimitStatus limit) {
        return anyCharged(one -> !one.shadow() && one.charge().sameBudget(limit.charge()));
    }

    /** What is charged, like {@link #charges}, with the rules. */
    public List<Charged> charged() {
        return charged;
    }

    public List<Uncharged> uncharged() {
        return uncharged;
    }

    public Exemption exemption() {
        return exemption;
    }

    Next next() {
        return next;
    }

    /** The required part that the request lacks; {@code null} if it lacks none. */
    @Nullable
    Lack lack() {
        return lack;
    }

    /** The names of the policies that refuse the request regardless of their budgets. */
    List<String> denying() {
        return uncharged.isEmpty()
                ? List.of()
                : uncharged.stream()
                        .filter(one -> one.outcome() == Outcome.REFUSED)
                        .map(one -> one.rule().policy().name())
                        .distinct()
                        .toList();
    }

    /** How long the request will be blocked, if policies block it; {@link LimitAlgorithm#NEVER} if no wait helps. */
    long blockedNanos() {
        return blockedNanos == LiveOverrides.NEVER ? LimitAlgorithm.NEVER : blockedNanos;
    }

    /** Whether the request can wait for permits instead of being refused. */
    boolean mayWait() {
        return anyCharged(one -> !one.shadow() && one.rule().onExceeded().waits())
                && denying().isEmpty();
    }

    /** Whether the request holds permits until it is complete. */
    boolean holding() {
        return holding;
    }

    /** Whether the application may settle a charge, because its permits do not count requests. */
    boolean metered() {
        return metered;
    }

    /** Whether the charge depends on the status of the response. */
    boolean dependent() {
        return dependent;
    }

    /** Whether this is true of any rule that charges the request. */
    boolean anyCharged(Predicate<Charged> condition) {
        for (int i = 0; i < charged.size(); i++) {
            if (condition.test(charged.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a rule of this policy is among them. */
    boolean meet(String policy) {
        return anyCharged(one -> one.isOf(policy))
                || uncharged.stream().anyMatch(one -> one.rule().policy().name().equals(policy));
    }

    /** The rule that makes this charge. */
    @SuppressWarnings("ReferenceEquality") // fast, and stores may return a copy
    Rule ruleOf(Charge charge) {
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).charge() == charge) {
                return charged.get(i).rule();
            }
        }
        return ruleOf(charge.policy().name());
    }

    /** The rule of the policy with this name. */
    Rule ruleOf(String policy) {
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).isOf(policy)) {
                return charged.get(i).rule();
            }
        }
        return uncharged.stream()
                .map(Uncharged::rule)
                .filter(rule -> rule.policy().name().equals(policy))
                .findFirst()
                .orElseThrow(() -> new NoSuchElementException(policy));
    }

    /** Whose request a policy refuses; {@code null} if it has no key. */
    @Nullable
    String keyOf(String policy) {
        for (Charged one : charged) {
            if (one.isOf(policy)) {
                return one.charge().key();
            }
        }
        for (Uncharged one : uncharged) {
            if (one.rule().policy().name().equals(policy)) {
                return one.key();
            }
        }
        return null;
    }
}

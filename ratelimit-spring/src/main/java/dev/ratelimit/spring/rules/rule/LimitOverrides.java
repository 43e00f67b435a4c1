package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.Resolver;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who has which limits under a rule: some keys by name, some addresses by network, others by the plan of their owner,
 * and the rest those of the policy. Immutable.
 */
public final class LimitOverrides {

    /**
     * The override for the addresses of a network.
     *
     * @param range the network
     * @param override the limits of its addresses
     */
    public record Network(AddressRange range, LimitOverride override) {}

    /** Stands for callers without a plan, as in the configuration. */
    public static final String NO_PLAN = "default";

    private final List<KeyPart> subjects;
    private final Map<String, LimitOverride> byKey;
    private final List<Network> networks;
    private final @Nullable Resolver plan;
    private final Map<String, LimitOverride> plans;
    private final LimitOverride otherwise;
    private final Function<String, LimitOverride> reader;

    /**
     * Combines the overrides of a rule.
     *
     * @param subjects the parts of the key that {@code byKey} refers to
     * @param byKey by the encoded value of one of those parts
     * @param networks by the client's address; the narrowest network that contains it applies
     * @param plan resolves the plan of the key's owner; {@code null} without plans
     * @param plans by plan
     * @param otherwise the limits of all others
     */
    public LimitOverrides(
            List<KeyPart> subjects,
            Map<String, LimitOverride> byKey,
            List<Network> networks,
            @Nullable Resolver plan,
            Map<String, LimitOverride> plans,
            LimitOverride otherwise) {
        this.subjects = byKey.isEmpty() ? List.of() : List.copyOf(subjects);
        this.byKey = Map.copyOf(byKey);
        this.networks = networks.stream()
                .sorted(Comparator.comparingInt(
                                (Network network) -> network.range().prefix())
                        .reversed())
                .toList();
        this.plan = plans.isEmpty() ? null : plan;
        this.plans = Map.copyOf(plans);
        this.otherwise = otherwise;
        this.reader = written -> {
            throw new IllegalArgumentException("this policy has no overrides");
        };
    }

    private LimitOverrides(LimitOverrides like, Function<String, LimitOverride> reader) {
        this.subjects = like.subjects;
        this.byKey = like.byKey;
        this.networks = like.networks;
        this.plan = like.plan;
        this.plans = like.plans;
        this.otherwise = like.otherwise;
        this.reader = reader;
    }

    /**
     * The same overrides, for a rule to which operators may add others.
     *
     * @param other reads the limits of an override as they are written
     */
    public LimitOverrides readBy(Function<String, LimitOverride> other) {
        return new LimitOverrides(this, other);
    }

    /**
     * Reads the limits of another override.
     *
     * @param written as in the configuration
     * @throws IllegalArgumentException if the rule cannot have them
     * @throws dev.ratelimit.spring.RateLimitConfigurationException likewise, if the rule is one of the configuration
     */
    public LimitOverride read(String written) {
        return reader.apply(written);
    }

    /** All overrides, including that of all others. */
    public Stream<LimitOverride> all() {
        return Stream.of(
                        Stream.of(otherwise),
                        plans.values().stream(),
                        byKey.values().stream(),
                        networks.stream().map(Network::override))
                .flatMap(overrides -> overrides);
    }

    /** The limits of plans, in alphabetical order. */
    public SortedMap<String, LimitOverride> plans() {
        return new TreeMap<>(plans);
    }

    /** The limits of plans, with those of callers without one; in alphabetical order, empty without plans. */
    public SortedMap<String, LimitOverride> allPlans() {
        SortedMap<String, LimitOverride> all = plans();
        if (!all.isEmpty()) {
            all.put(NO_PLAN, otherwise);
        }
        return all;
    }

    /** The limits of callers without a plan and an override. */
    LimitOverride otherwise() {
        return otherwise;
    }

    /** The plan that decides the limits of a request; {@code null} without plans, or if it has limits by hand. */
    public @Nullable String planOf(RequestContext context) {
        if (plan == null || areByHand(context)) {
            return null;
        }
        String name = plan.valueOf(context);
        return name != null && plans.containsKey(name) ? name : NO_PLAN;
    }

    /** The networks without a limit; none if another one has a limit, which may lie within them. */
    public List<AddressRange> unlimitedNetworks() {
        boolean all = networks.stream()
                .map(Network::override)
                .allMatch(override ->
                        override == LimitOverride.Fixed.UNLIMITED || override == LimitOverride.Fixed.EXEMPT);
        return all ? networks.stream().map(Network::range).toList() : List.of();
    }

    /** What the limits of a request depend on, besides the key. */
    Reads reads() {
        Reads reads = networks.isEmpty() ? Reads.NOTHING : Reads.of(Fact.ADDRESS);
        return plan == null ? reads : reads.and(plan.reads());
    }

    LimitOverride of(RequestContext context) {
        LimitOverride byHand = byHand(context);
        if (byHand != null) {
            return byHand;
        }
        String name = plan == null ? null : plan.valueOf(context);
        return name == null ? otherwise : plans.getOrDefault(name, otherwise);
    }

    /** Whether the request has limits of its own, whatever its plan is. */
    public boolean areByHand(RequestContext context) {
        return byHand(context) != null;
    }

    private @Nullable LimitOverride byHand(RequestContext context) {
        for (KeyPart subject : subjects) {
            KeyEncoder key = context.newKey();
            LimitOverride override = subject.appendTo(key, context) ? byKey.get(key.toString()) : null;
            if (override != null) {
                return override;
            }
        }
        IpAddress address = networks.isEmpty() ? null : context.address();
        LimitOverride override = address == null ? null : ofAddress(address);
        boolean privilege = override != null && override != LimitOverride.Fixed.BLOCKED;
        return privilege && context.hasProxyAddress() ? null : override;
    }

    private @Nullable LimitOverride ofAddress(IpAddress address) {
        for (Network network : networks) {
            if (network.range().contains(address)) {
                return network.override();
            }
        }
        return null;
    }

    /**
     * The limits of a key, whose owner has no plan.
     *
     * @param key also with the plain values of its parts
     */
    public LimitOverride ofKey(PlainKey key) {
        return Objects.requireNonNullElse(byHand(key), otherwise);
    }

    /** The limits of a key by each plan that its owner may have, and without one; by plan. */
    public Map<String, LimitOverride> ofKeyByPlan(PlainKey key) {
        return byHand(key) == null ? allPlans() : Map.of();
    }

    private @Nullable LimitOverride byHand(PlainKey key) {
        for (String part : key.parts()) {
            LimitOverride override = byKey.get(part);
            if (override != null) {
                return override;
            }
        }
        IpAddress address = key.address();
        return address == null ? null : ofAddress(address);
    }

    /** For logs, such as {@code , plans free and pro, 3 exceptions}; empty if all have the same limits. */
    @Override
    public String toString() {
        String byPlan = plans.isEmpty() ? "" : ", plans " + String.join(", ", new TreeSet<>(plans.keySet()));
        int exceptions = byKey.size() + networks.size();
        return byPlan + (exceptions == 0 ? "" : ", " + exceptions + (exceptions == 1 ? " exception" : " exceptions"));
    }
}

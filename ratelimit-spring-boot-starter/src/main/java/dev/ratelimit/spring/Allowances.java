package dev.ratelimit.spring;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Who may have what under a rule: some keys by name, some addresses by network, the others by the plan of their owner, and
 * the rest what the policy says. Immutable.
 */
public final class Allowances {

    /**
     * What the addresses of a network may have.
     *
     * @param range the network
     * @param allowance what they may have
     */
    public record Network(AddressRange range, Allowance allowance) {}

    private final List<KeyPart> subjects;
    private final Map<String, Allowance> byKey;
    private final List<Network> networks;
    private final Function<Call, @Nullable String> plan;
    private final Map<String, Allowance> plans;
    private final Allowance otherwise;

    /**
     * Allowances.
     *
     * @param subjects the parts of the key that {@code byKey} is about
     * @param byKey by the encoded value of one of those parts
     * @param networks by the client's address; of several that contain it, the narrowest holds
     * @param plan the plan of the key's owner
     * @param plans by plan
     * @param otherwise what all others may have
     */
    public Allowances(
            List<KeyPart> subjects,
            Map<String, Allowance> byKey,
            List<Network> networks,
            Function<Call, @Nullable String> plan,
            Map<String, Allowance> plans,
            Allowance otherwise) {
        this.subjects = byKey.isEmpty() ? List.of() : List.copyOf(subjects);
        this.byKey = Map.copyOf(byKey);
        this.networks = networks.stream()
                .sorted(Comparator.comparingInt(
                                (Network network) -> network.range().prefix())
                        .reversed())
                .toList();
        this.plan = plan;
        this.plans = Map.copyOf(plans);
        this.otherwise = otherwise;
    }

    Allowance of(Call call) {
        Allowance byHand = byHand(call);
        if (byHand != null) {
            return byHand;
        }
        String name = plans.isEmpty() ? null : plan.apply(call);
        return name == null ? otherwise : plans.getOrDefault(name, otherwise);
    }

    private @Nullable Allowance byHand(Call call) {
        for (KeyPart subject : subjects) {
            KeyEncoder key = call.newKey();
            Allowance allowance = subject.appendTo(key, call) ? byKey.get(key.toString()) : null;
            if (allowance != null) {
                return allowance;
            }
        }
        IpAddress address = networks.isEmpty() ? null : call.address();
        if (address != null) {
            for (Network network : networks) {
                if (network.range().contains(address)) {
                    return network.allowance();
                }
            }
        }
        return null;
    }

    /** For people, such as {@code , plans free and pro, 3 exceptions}; empty where all may have the same. */
    @Override
    public String toString() {
        String byPlan = plans.isEmpty() ? "" : ", plans " + String.join(", ", new TreeSet<>(plans.keySet()));
        int exceptions = byKey.size() + networks.size();
        return byPlan + (exceptions == 0 ? "" : ", " + exceptions + (exceptions == 1 ? " exception" : " exceptions"));
    }
}

package dev.ratelimit.remote;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** This instance's share of the limits of all instances. Thread-safe. */
final class LocalLimits {

    private static final int MAX_POLICIES = 10_000;

    private final double share;
    private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
    private final AtomicInteger lastNumber = new AtomicInteger();
    private final Map<Policy, List<Policy>> shares = new ConcurrentHashMap<>();

    /**
     * Creates shares of this size.
     *
     * @param share above 0, at most 1
     */
    LocalLimits(double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("local share must be above 0 and at most 1 but was " + share);
        }
        this.share = share;
    }

    /** The shares of this policy's limits, each as a separate policy, because each is seeded with its own usage; each has the penalty. */
    List<Policy> of(Policy policy) {
        List<Policy> known = shares.get(policy);
        if (known != null) {
            return known;
        }
        if (shares.size() >= MAX_POLICIES) {
            shares.clear();
        }
        return shares.computeIfAbsent(policy, this::make);
    }

    private List<Policy> make(Policy policy) {
        List<Limit> limits = policy.algorithms().stream()
                .<Limit>map(limit -> limit.scaled(share))
                .toList();
        Penalty penalty = policy.penalty();
        int number = numbers.computeIfAbsent(policy.name(), name -> lastNumber.incrementAndGet());
        return IntStream.range(0, limits.size())
                .mapToObj(i -> Policy.of(number + "." + policy.rank(i), limits.get(i)))
                .map(single -> penalty == null ? single : single.withPenalty(penalty.duration()))
                .toList();
    }
}

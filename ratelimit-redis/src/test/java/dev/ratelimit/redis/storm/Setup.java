package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.redis.storm.Step.Want;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The servers, the instances and their settings.
 *
 * @param seed what the world draws delays from
 * @param masters 1 for a single server, otherwise a cluster of as many
 * @param denyCacheNanos for how long refusals are repeated without asking
 * @param leased whether instances take leases
 * @param connectNanos how long it takes to connect, besides the round trips
 * @param handshakeNanos how long the client waits for the first reply of a server that has accepted a connection
 * @param farNanos how much longer than in one zone a message takes
 * @param mixed whether all instances but one are of another version, which sends other scripts
 * @param scriptsKnown whether servers know all scripts from the beginning, because other instances have sent them
 * @param quiet whether nobody asks while faults that last longer than the calls end
 * @param opensAtNanos when the last instance starts, perhaps amid faults; 0 if before all of them
 */
record Setup(
        long seed,
        int masters,
        int instances,
        int keys,
        List<Terms> policies,
        int maxInFlight,
        int failures,
        long deadlineNanos,
        double localShare,
        long denyCacheNanos,
        boolean leased,
        long openForNanos,
        long connectNanos,
        long handshakeNanos,
        long farNanos,
        boolean mixed,
        long opensAtNanos,
        boolean scriptsKnown,
        boolean quiet) {

    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000 * MILLI;

    private static final int MAX_IN_FLIGHT = 256;
    private static final int FAILURES = 10;
    private static final long DEADLINE_NANOS = 50 * MILLI;
    private static final long HANDSHAKE_NANOS = 3 * SECOND;

    /**
     * Reads the line of the settings.
     *
     * @param policies those of the other lines
     */
    static Setup of(Fields fields, List<Terms> policies) {
        return new Setup(
                fields.get("seed", 0L, Long::valueOf),
                fields.number("masters", 1),
                fields.number("instances", 1),
                fields.number("keys", 1),
                List.copyOf(policies),
                fields.number("max-in-flight", MAX_IN_FLIGHT),
                fields.number("failures", FAILURES),
                fields.time("deadline", DEADLINE_NANOS),
                fields.get("local-share", 1.0, Double::valueOf),
                fields.time("deny-cache", 0),
                fields.flag("leased"),
                fields.time("open-for", SECOND),
                fields.time("connect", 0),
                fields.time("handshake", HANDSHAKE_NANOS),
                fields.time("far", 0),
                fields.flag("mixed"),
                fields.time("opens-at", 0),
                fields.flag("scripts-known"),
                fields.flag("quiet"));
    }

    private Fields fields() {
        return new Fields()
                .with("seed", seed, 0L)
                .with("masters", masters, 1)
                .with("instances", instances, 1)
                .with("keys", keys, 1)
                .with("max-in-flight", maxInFlight, MAX_IN_FLIGHT)
                .with("failures", failures, FAILURES)
                .withTime("deadline", deadlineNanos, DEADLINE_NANOS)
                .with("local-share", localShare, 1.0)
                .withTime("deny-cache", denyCacheNanos, 0)
                .with("leased", leased, false)
                .withTime("open-for", openForNanos, SECOND)
                .withTime("connect", connectNanos, 0)
                .withTime("handshake", handshakeNanos, HANDSHAKE_NANOS)
                .withTime("far", farNanos, 0)
                .with("mixed", mixed, false)
                .withTime("opens-at", opensAtNanos, 0)
                .with("scripts-known", scriptsKnown, false)
                .with("quiet", quiet, false);
    }

    /** The same with other delays. */
    Setup withSeed(long other) {
        return of(fields().set("seed", String.valueOf(other)), policies);
    }

    /** Whether an answer comes in time, but not one to what has to be sent twice. */
    boolean isVeryFar() {
        return 4 * (farNanos + Network.MAX_DELAY_NANOS) + Storm.WAKE_NANOS >= deadlineNanos;
    }

    boolean isCluster() {
        return masters > 1;
    }

    /**
     * A charge that a caller wants.
     *
     * @param changed whether its instance has the other limits
     */
    Charge charge(Want want, boolean changed) {
        return policies.get(want.policy())
                .policy("p" + want.policy(), changed)
                .charge("k" + want.key(), want.permits());
    }

    /** The policies with their first and with their other limits. */
    List<Policy> allPolicies() {
        return IntStream.range(0, 2 * policies.size())
                .mapToObj(i -> policies.get(i / 2).policy("p" + i / 2, i % 2 == 1))
                .toList();
    }

    /** The limits of the key of this name, in their first and in their other version. */
    List<LimitAlgorithm> limits(String key) {
        String[] parts = key.split(":", -1);
        Terms terms = policies.get(Integer.parseInt(parts[1].substring(1)));
        int rank = Integer.parseInt(parts[3]);
        return Stream.of(false, true)
                .map(changed -> limit(terms.policy(parts[1], changed), rank))
                .toList();
    }

    private static LimitAlgorithm limit(Policy policy, int rank) {
        int number = 0;
        while (policy.rank(number) != rank) {
            number++;
        }
        return policy.algorithms().get(number);
    }

    /** What applies to a charge while servers do not answer. */
    OnStoreFailure onFailure(String policy) {
        return terms(policy).onFailure();
    }

    /** The terms of the policy of this name. */
    Terms terms(String policy) {
        return policies.get(Integer.parseInt(policy.substring(1)));
    }

    /** Lines, each a word and fields. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(("setup " + fields()).strip());
        policies.forEach(terms -> lines.add("policy " + terms.fields()));
        return lines;
    }
}

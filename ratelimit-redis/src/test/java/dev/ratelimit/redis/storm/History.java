package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Trouble;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * What happens in one run.
 *
 * @param seed what the steps were drawn from, and what the world draws delays from
 */
record History(long seed, Setup setup, List<Step> steps) {

    /**
     * The servers and the instances.
     *
     * @param masters 1 for a single server, otherwise a cluster of as many
     * @param deny whether the second policy fails closed, and the third one open
     * @param connectNanos how long it takes to connect, besides the round trips
     * @param handshakeNanos how long the client waits for the first reply of a server that has accepted a connection
     * @param refunds whether callers refund and reset; if not, servers' grants can be checked against the limits
     * @param mixed whether all instances but one are of another version, which sends other scripts
     * @param opensAtNanos when the last instance starts, perhaps amid faults; 0 if before all of them
     */
    record Setup(
            int masters,
            int instances,
            int keys,
            int policies,
            int maxInFlight,
            int failures,
            long deadlineNanos,
            double localShare,
            boolean denyCache,
            boolean leased,
            boolean deny,
            long openForNanos,
            long connectNanos,
            long handshakeNanos,
            boolean refunds,
            boolean mixed,
            long opensAtNanos) {

        @Override
        public String toString() {
            return (masters == 1 ? "one server" : "a cluster of " + masters + " masters")
                    + String.format(
                            Locale.ROOT,
                            ", instances 0 to %d, keys k0 to k%d, policies p0 to p%d%n"
                                    + "deadline %d ms, max-in-flight %d, failures %d, open-for %d ms, local-share %.2f",
                            instances - 1,
                            keys - 1,
                            policies - 1,
                            deadlineNanos / MILLI,
                            maxInFlight,
                            failures,
                            openForNanos / MILLI,
                            localShare)
                    + (denyCache ? ", deny-cache" : "")
                    + (leased ? ", leased" : "")
                    + (deny ? ", p1 fails closed, p2 open" : "")
                    + (mixed ? ", other instances than 0 have another version" : "")
                    + String.format(
                            Locale.ROOT,
                            "%nconnecting takes %d ms, and up to %d s if the server is silent%s",
                            connectNanos / MILLI,
                            handshakeNanos / SECOND,
                            opensAtNanos > 0 ? "; the last instance starts late" : "");
        }
    }

    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000_000_000L;

    /** When the last call of the callers is made; then come the questions whether all is well again. */
    static final long CALLS_NANOS = 15 * SECOND;

    private static final int MAX_TROUBLES = 6;

    /** Draws a history. Each has only some kinds of faults, because one fault may hide another (swarm testing). */
    static History draw(long seed) {
        Random random = new Random(seed);
        int instances = 1 + random.nextInt(3);
        Setup setup = new Setup(
                random.nextInt(3) == 0 ? 3 : 1,
                instances,
                1 + random.nextInt(4),
                1 + random.nextInt(3),
                List.of(1, 2, 8, 256).get(random.nextInt(4)),
                List.of(1, 3, 10).get(random.nextInt(3)),
                List.of(10, 50, 50, 500).get(random.nextInt(4)) * MILLI,
                random.nextBoolean() ? 1 : 1.0 / instances,
                random.nextBoolean(),
                random.nextInt(4) == 0,
                random.nextInt(3) == 0,
                (random.nextInt(3) == 0 ? 200 : 1_000) * MILLI,
                List.of(0, 0, 20, 200).get(random.nextInt(4)) * MILLI,
                (random.nextBoolean() ? 3 : 60) * SECOND,
                random.nextBoolean(),
                random.nextInt(3) == 0,
                random.nextInt(4) == 0 ? random.nextLong(CALLS_NANOS * 2 / 3) : 0);
        List<Step> steps = new ArrayList<>();
        // usually shorter than the calls, sometimes far longer
        boolean lasting = random.nextInt(10) == 0;
        new Calls(random, setup).draw(steps);
        steps.addAll(troubles(random, setup, lasting, List.copyOf(steps)));
        steps.sort(Comparator.comparingLong(Step::atNanos));
        return new History(seed, setup, List.copyOf(steps));
    }

    private static List<Trouble> troubles(Random random, Setup setup, boolean lasting, List<Step> calls) {
        List<Fault> kinds = new ArrayList<>();
        for (Fault fault : Fault.values()) {
            if (random.nextInt(4) == 0 && (setup.masters > 1 || fault != Fault.SLOT_MOVES)) {
                kinds.add(fault);
            }
        }
        if (setup.leased && random.nextBoolean()) {
            // a lease may end meanwhile, and other faults would hide what follows
            kinds.clear();
            kinds.add(Fault.PAUSED);
        } else if (setup.masters > 1 && random.nextInt(4) == 0) {
            // answers and redirects may come too late
            kinds.addAll(List.of(Fault.SLOT_MOVES, Fault.SLOW_SERVER, Fault.SLOW_SERVER));
        }
        int count = kinds.isEmpty() ? 0 : random.nextInt(MAX_TROUBLES + 1);
        List<Trouble> troubles = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double time = Math.pow(10, lasting ? 10 + random.nextDouble() : 6.5 + 3.7 * random.nextDouble());
            long at = random.nextBoolean()
                    ? SECOND / 2 + random.nextLong(CALLS_NANOS * 2 / 3)
                    : soonAfter(random, setup, calls, troubles);
            troubles.add(new Trouble(
                    at,
                    kinds.get(random.nextInt(kinds.size())),
                    random.nextInt(setup.instances),
                    random.nextInt(setup.masters),
                    (long) time));
        }
        return troubles;
    }

    /** A time at which an instance starts, a call is under way, or another fault has just begun or ended. */
    private static long soonAfter(Random random, Setup setup, List<Step> calls, List<Trouble> troubles) {
        long at;
        if (setup.opensAtNanos > 0 && random.nextInt(3) == 0) {
            // it connects first, and then asks
            at = setup.opensAtNanos + (random.nextBoolean() ? setup.connectNanos : 0);
        } else if (!troubles.isEmpty() && random.nextInt(3) == 0) {
            Trouble other = troubles.get(random.nextInt(troubles.size()));
            at = random.nextBoolean() ? other.atNanos() : Troubles.end(other);
        } else {
            at = calls.get(random.nextInt(calls.size())).atNanos();
        }
        return Math.min(CALLS_NANOS, at + (long) Math.pow(10, 4.5 + 4 * random.nextDouble()));
    }
}

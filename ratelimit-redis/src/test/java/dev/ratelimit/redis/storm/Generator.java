package dev.ratelimit.redis.storm;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Target;
import dev.ratelimit.redis.storm.Step.Trouble;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Draws a history. Each has only some kinds of faults, because one fault may hide another (swarm testing). */
final class Generator {

    private static final long MICRO = 1_000L;
    private static final long MILLI = 1_000 * MICRO;
    private static final long SECOND = 1_000 * MILLI;

    /** When the last call of the callers is made at the latest. */
    static final long CALLS_NANOS = 15 * SECOND;

    private static final int MAX_TROUBLES = 6;

    /** A few times the usual deadline, so that some answers are late. */
    private static final long SLOW_NANOS = 60 * MILLI;

    private static final long UNSTABLE_NANOS = 200 * MILLI;

    private static final int VARIANTS = 1 << 8;

    private static final List<Long> WAITS = List.of(100 * MILLI, SECOND, 5 * SECOND);

    private static final long PENALTY_NANOS = 5 * SECOND;

    private final long seed;
    private final Random random;
    private final Setup setup;

    Generator(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
        this.setup = setup();
    }

    History history() {
        List<Step> steps = new ArrayList<>();
        // usually shorter than the calls, sometimes far longer
        boolean lasting = random.nextInt(10) == 0;
        new Calls(random, setup).draw(steps);
        steps.addAll(troubles(lasting, List.copyOf(steps)));
        steps.sort(Comparator.comparingLong(Step::atNanos));
        return new History(setup, List.copyOf(steps), List.of());
    }

    private boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    @SafeVarargs
    private <T> T any(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private Setup setup() {
        int instances = 1 + random.nextInt(3);
        boolean leased = oneIn(4);
        long deadline = any(10, 50, 50, 500) * MILLI;
        long far = oneIn(4) ? far(deadline) : 0;
        return new Setup(
                seed,
                // to follow a redirect takes another round trip
                far <= deadline / 5 && oneIn(3) ? 3 : 1,
                instances,
                1 + random.nextInt(4),
                policies(leased),
                any(1, 2, 8, 256),
                any(1, 3, 10),
                deadline,
                random.nextBoolean() ? 1 : 1.0 / instances,
                random.nextBoolean() ? SECOND : 0,
                leased,
                oneIn(3) ? 200 * MILLI : SECOND,
                any(0, 0, 20, 200) * MILLI,
                (random.nextBoolean() ? 3 : 60) * SECOND,
                far,
                oneIn(3),
                oneIn(4) ? random.nextLong(CALLS_NANOS * 2 / 3) : 0,
                far > deadline / 5,
                oneIn(3));
    }

    /** What a message takes whose answer comes at a tenth to nine tenths of the deadline. */
    private long far(long deadline) {
        double roundTrip = Math.min(deadline * (0.1 + 0.8 * random.nextDouble()), deadline - 2.0 * MILLI);
        return Math.max(0, (long) roundTrip / 2 - MILLI / 2) / MICRO * MICRO;
    }

    private List<Terms> policies(boolean leased) {
        List<Terms> policies = new ArrayList<>();
        boolean deny = oneIn(3);
        // what is lost of a slow limit stays lost for as long as a history lasts
        boolean slow = oneIn(3);
        Terms first = slow ? slowBucket(leased) : bucket(leased);
        policies.add(oneIn(4) ? first.waiting(WAITS.get(random.nextInt(WAITS.size()))) : first);
        if (random.nextBoolean()) {
            policies.add(slow ? slowWindow(deny) : window(leased, deny));
        }
        if (policies.size() > 1 && random.nextBoolean()) {
            policies.add(slow ? held(deny) : third(leased, deny));
        }
        return List.copyOf(policies);
    }

    private static Terms terms(String limits, String other) {
        return new Terms(limits, other, 0, OnStoreFailure.LOCAL, 0);
    }

    /** Some permits take a number of microseconds that is not whole, and some notations have the same length. */
    private Terms bucket(boolean leased) {
        if (leased) {
            return oneIn(4)
                    // with too few permits for leases
                    ? terms("bucket:20/second:60", "bucket:20/second:80")
                    : any(
                            terms("bucket:20/second:100", "bucket:40/second:200"),
                            terms("bucket:30/second:100", "bucket:35/second:200"),
                            terms("bucket:20/second:100+fixed:300/2s", "bucket:20/second:200+fixed:400/2s"));
        }
        return any(
                terms("bucket:10/second:20", "bucket:20/second:40"),
                terms("bucket:10/second:20", "bucket:10/second:40"),
                terms("bucket:10/second:20", "bucket:8/second:20"),
                terms("bucket:7/second:20", "bucket:7/second:30"),
                terms("bucket:30/second:10", "bucket:3/second:10"),
                terms("bucket:20/second:20+bucket:7/second:30", "bucket:20/second:20+bucket:9/second:30"));
    }

    private Terms slowBucket(boolean leased) {
        return leased
                ? terms("bucket:1/second:300", "bucket:2/second:400")
                : any(
                        terms("held:40/10m", "held:60/10m"),
                        terms("bucket:1/second:200", "bucket:1/second:300"),
                        terms("bucket:1/second:200+fixed:300/10m", "bucket:1/second:300+fixed:450/10m"));
    }

    private Terms slowWindow(boolean deny) {
        OnStoreFailure onFailure = deny ? OnStoreFailure.DENY : OnStoreFailure.LOCAL;
        String limits = any("fixed:300/10m", "sliding:300/10m", "log:300/10m", "interval:300/10m");
        return new Terms(limits, limits.replace("300", "600"), 0, onFailure, 0);
    }

    private static Terms held(boolean deny) {
        OnStoreFailure onFailure = deny ? OnStoreFailure.ALLOW : OnStoreFailure.LOCAL;
        return new Terms("held:40/10m", "held:60/10m", 0, onFailure, 0);
    }

    private Terms window(boolean leased, boolean deny) {
        long permits = leased ? 150 : 30;
        int kind = random.nextInt(6);
        String period = kind == 0 || kind == 2 ? "/2s" : "/3s";
        String form = List.of("fixed:%s", "sliding:%s", "clock:%s", "sliding:%s", "interval:%s", "sliding:%s+log:20/2s")
                .get(kind);
        String limits = form.formatted(permits + period);
        String other = form.formatted(2 * permits + period);
        OnStoreFailure onFailure = deny ? OnStoreFailure.DENY : OnStoreFailure.LOCAL;
        return new Terms(limits, other, kind == 3 ? PENALTY_NANOS : 0, onFailure, 0);
    }

    private Terms third(boolean leased, boolean deny) {
        OnStoreFailure onFailure = deny ? OnStoreFailure.ALLOW : OnStoreFailure.LOCAL;
        if (oneIn(4)) {
            // a change would not keep the share
            String held = leased ? "held:150/2s" : "held:15/2s";
            return new Terms(held, held, 0, onFailure, 0);
        }
        String limits = leased ? "bucket:100/second" : "log:20/2s";
        String other = leased ? "bucket:200/second" : "log:40/2s";
        return new Terms(limits, other, 0, onFailure, 0);
    }

    private List<Trouble> troubles(boolean lasting, List<Step> calls) {
        List<Fault> kinds = new ArrayList<>();
        for (Fault fault : Fault.values()) {
            if (oneIn(4) && isPossible(fault)) {
                kinds.add(fault);
            }
        }
        if (setup.leased() && random.nextBoolean()) {
            // a lease may end meanwhile, and other faults would hide what follows
            kinds.clear();
            kinds.add(Fault.PAUSED);
        } else if (setup.isCluster() && oneIn(4)) {
            // answers and redirects may come too late
            kinds.addAll(List.of(Fault.SLOT_MOVES, Fault.SLOW_SERVER, Fault.SLOW_SERVER));
        }
        int count = kinds.isEmpty() ? 0 : random.nextInt(MAX_TROUBLES + 1);
        List<Trouble> troubles = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double time = Math.pow(10, lasting ? 10 + random.nextDouble() : 6.5 + 3.7 * random.nextDouble());
            long at = random.nextBoolean()
                    ? SECOND / 2 + random.nextLong(CALLS_NANOS * 2 / 3)
                    : soonAfter(calls, troubles);
            troubles.add(trouble(at, kinds.get(random.nextInt(kinds.size())), (long) time));
        }
        return troubles;
    }

    private boolean isPossible(Fault fault) {
        return switch (fault) {
            case SLOT_MOVES -> setup.isCluster();
            // what must be sent twice comes too late from afar
            case SCRIPTS_FLUSHED, SERVER_CLOCK_FORWARD, KILLED, EMPTIED, FAIL_OVER, VANISHED, FOREIGN_VALUE ->
                !setup.scriptsKnown();
            default -> true;
        };
    }

    private Trouble trouble(long at, Fault fault, long time) {
        int policy = random.nextInt(setup.policies().size());
        Target target = new Target(
                random.nextInt(setup.instances()),
                random.nextInt(setup.masters()),
                policy,
                random.nextInt(setup.keys()),
                random.nextInt(setup.policies().get(policy).limits().split("\\+").length));
        long by = switch (fault) {
            case SLOW_SERVER, SLOW_NETWORK -> random.nextLong(SLOW_NANOS);
            case UNSTABLE -> UNSTABLE_NANOS + random.nextLong(UNSTABLE_NANOS);
            case FAIL_OVER -> random.nextLong(1 + time);
            default -> 0;
        };
        int variant = switch (fault) {
            case FAIL_OVER -> random.nextInt(VARIANTS);
            case WALL_CLOCK_MOVES -> random.nextInt(2);
            default -> 0;
        };
        // nobody wants to read more digits
        return new Trouble(at / MICRO * MICRO, fault, target, time / MICRO * MICRO, by / MICRO * MICRO, variant);
    }

    /** A time at which an instance starts, a call is under way, or another fault has just begun or ended. */
    private long soonAfter(List<Step> calls, List<Trouble> troubles) {
        long at;
        if (setup.opensAtNanos() > 0 && oneIn(3)) {
            // it connects first, and then asks
            at = setup.opensAtNanos() + (random.nextBoolean() ? setup.connectNanos() : 0);
        } else if (!troubles.isEmpty() && oneIn(3)) {
            Trouble other = troubles.get(random.nextInt(troubles.size()));
            at = random.nextBoolean() ? other.atNanos() : Troubles.end(other);
        } else {
            at = calls.get(random.nextInt(calls.size())).atNanos();
        }
        return Math.min(CALLS_NANOS, at + (long) Math.pow(10, 4.5 + 4 * random.nextDouble()));
    }
}

package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.World.Place;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What servers have charged and refunded, and what callers were granted, key by key. What must hold at any time:
 *
 * <ul>
 *   <li>what a server granted to callers, who have not returned it, was charged there and not refunded;
 *   <li>an instance's memory grants at most its share of a limit.
 * </ul>
 */
final class Books {

    /** Servers' clocks count microseconds, and every reading of an instance's takes time. */
    private static final long SLACK_NANOS = 1_000_000;

    /** The prefix of the keys. */
    static final String PREFIX = "storm";

    private static final class Account {
        private long charged;
        private long refunded;
        private long granted;
        /** Permits of calls of which some answer may have come too late. */
        private long excused;

        private boolean unbounded;
        private final List<Grant> grants = new ArrayList<>();
    }

    /** Permits that a server granted, and when. */
    private record Grant(long atNanos, LimitAlgorithm limit, long permits) {}

    /** The fill of a bucket that drains at the rate of a limit. */
    private static final class Level {
        private double permits;
        private long atNanos;
    }

    private record Local(Place place, String key) {}

    private final World world;
    private final Map<String, Account> accounts = new HashMap<>();
    private final Map<Local, Level> levels = new HashMap<>();

    Books(World world) {
        this.world = world;
    }

    private Account account(String key) {
        return accounts.computeIfAbsent(key, name -> new Account());
    }

    private Account account(Charge charge) {
        return account(Seam.firstKey(PREFIX, charge));
    }

    /** Records that a server ran a script. */
    void ran(String[] keys, byte[][] arguments, long[] reply) {
        String operation = new String(arguments[0], StandardCharsets.US_ASCII);
        if (operation.equals("reset")) {
            return;
        }
        ByteBuffer plan = ByteBuffer.wrap(arguments[2]);
        int at = 1;
        while (plan.hasRemaining()) {
            boolean decided = reply[at] >= 0;
            boolean taken = reply[at++] == 1;
            for (int limits = plan.getShort(); limits > 0; limits--) {
                String key = keys[plan.getShort() - 1];
                int terms = 2 * plan.getShort() + 1;
                if (taken && key.endsWith(":0")) {
                    ran(operation, key, (long)
                            ByteBuffer.wrap(arguments[terms + 1]).getDouble());
                }
                at += decided && !operation.equals("refund") ? numbers((char) arguments[terms][0]) : 0;
            }
        }
    }

    private void ran(String operation, String key, long permits) {
        if (operation.equals("charge")) {
            account(key).charged += permits;
        } else if (operation.equals("refund")) {
            account(key).refunded += permits;
            check(key);
        }
    }

    /** How many numbers a reply holds of a limit with this algorithm. */
    private static int numbers(char algorithm) {
        return switch (algorithm) {
            case 't' -> 1;
            case 'i' -> 2;
            case 'f', 's' -> 3;
            case 'l' -> 4;
            default -> throw new IllegalArgumentException("algorithm " + algorithm);
        };
    }

    /** Records a decision that a caller got. */
    void granted(Place place, Decision decision, double share, long began) {
        if (!decision.admitted()) {
            return;
        }
        for (Charge charge : decision.charges()) {
            if (Seam.byServer(decision, charge)) {
                Account account = account(charge);
                account.granted += charge.permits();
                // what was spent from a lease was spent when the call began
                long at = Math.max(began, Seam.serverNanos(decision, charge) - World.EPOCH_NANOS);
                account.grants.add(new Grant(at, charge.policy().algorithms().get(0), charge.permits()));
                check(Seam.firstKey(PREFIX, charge));
            } else if (Seam.inMemory(decision, charge)) {
                grantedHere(place, charge, share);
            }
        }
    }

    /** Records that a caller is about to return what it was granted. */
    void returned(Place place, Decision decision) {
        for (Charge charge : decision.charges()) {
            if (Seam.byServer(decision, charge)) {
                account(charge).granted -= charge.permits();
            } else if (Seam.inMemory(decision, charge)) {
                Level level = levels.get(new Local(place, Seam.firstKey(PREFIX, charge)));
                if (level != null) {
                    level.permits = Math.max(0, level.permits - charge.permits());
                }
            }
        }
    }

    /** Records that an instance is about to forget a key. */
    void reset(Place place, Charge charge) {
        levels.remove(new Local(place, Seam.firstKey(PREFIX, charge)));
    }

    /** Records that callers may get more of this key, because of a refund or a reset. */
    void unbounded(Charge charge) {
        account(charge).unbounded = true;
    }

    /**
     * What servers granted of each bucket, in any interval of length t, is at most its capacity and its rate times t.
     *
     * @param leaseNanos how long before a permit may have been taken from the bucket
     */
    void requireBounds(long leaseNanos) {
        accounts.forEach((key, account) -> {
            if (!account.unbounded) {
                requireBound(key, account.grants, leaseNanos);
            }
        });
    }

    private void requireBound(String key, List<Grant> grants, long leaseNanos) {
        double level = 0;
        long at = 0;
        grants.sort(Comparator.comparingLong(Grant::atNanos));
        for (Grant grant : grants) {
            LimitAlgorithm limit = grant.limit;
            if (limit instanceof TokenBucket) {
                double perNano = (double) limit.capacity() / limit.replenishNanos();
                level = Math.max(0, level - (grant.atNanos - at) * perNano) + grant.permits;
                at = grant.atNanos;
                double bound = limit.capacity() + (leaseNanos + SLACK_NANOS) * perNano;
                world.require(level <= bound, "servers granted %.2f of %s, which admits %.2f", level, key, bound);
            }
        }
    }

    /** Excuses permits that servers may have charged although the caller got another answer. */
    void excuse(Charge charge) {
        account(charge).excused += charge.permits();
    }

    private void check(String key) {
        Account account = account(key);
        long charged = account.charged - account.refunded;
        world.require(
                account.granted <= charged,
                "callers hold %d permits of %s, and servers have charged %d",
                account.granted,
                key,
                charged);
    }

    private void grantedHere(Place place, Charge charge, double share) {
        LimitAlgorithm limit = charge.policy().algorithms().get(0);
        if (!(limit instanceof TokenBucket)) {
            return;
        }
        LimitAlgorithm part = limit.scaled(share);
        Level level = levels.computeIfAbsent(new Local(place, Seam.firstKey(PREFIX, charge)), key -> new Level());
        double drained = (double) (world.now() - level.atNanos) * part.capacity() / part.replenishNanos();
        level.permits = Math.max(0, level.permits - drained) + Math.min(charge.permits(), part.capacity());
        level.atNanos = world.now();
        world.require(
                level.permits <= part.capacity() + 0.01,
                "memory of %s granted %.2f of %s, whose share is %d",
                place,
                level.permits,
                charge,
                part.capacity());
    }

    /** Once nothing is under way, servers hold no more charges than callers, except for the excused. */
    void balance() {
        accounts.forEach((key, account) -> {
            long surplus = account.charged - account.refunded - account.granted;
            world.require(
                    surplus <= account.excused,
                    "%s: servers have charged %d more than callers hold, and %d may be so",
                    key,
                    surplus,
                    account.excused);
        });
    }
}

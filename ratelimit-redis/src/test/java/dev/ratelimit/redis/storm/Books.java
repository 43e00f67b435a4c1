package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.World.Place;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What servers have charged and refunded, and what callers were granted of it, key by key. What must hold at any time:
 *
 * <ul>
 *   <li>what a server granted to callers, who have not returned it, was charged there and not refunded;
 *   <li>a refund returns permits that were charged at the time that it names, once.
 * </ul>
 */
final class Books {

    /** Servers' clocks count microseconds, and every reading of an instance's takes time. */
    private static final long SLACK_NANOS = 1_000_000;

    /** The time in which answers that were overtaken arrive. */
    private static final long PROMPT_NANOS = 1_000_000_000;

    /** The prefix of the keys. */
    static final String PREFIX = "storm";

    private static final class Account {
        private long refunded;
        private long largest;

        /** Whether some answer about it may have come too late. */
        private boolean doubtful;

        /** By the server's time, when it refused last, and when it will admit again. */
        private long refusedNanos;

        private long availableNanos;
        private boolean reset;

        private @Nullable Bounds bounds;

        /** By the server's time of a charge, when that was. */
        private final Map<Long, Long> nowAt = new HashMap<>();

        /** The end of the window that was charged at this time. */
        private final Map<Long, Long> windowEnds = new HashMap<>();
    }

    private record Resetting(Place place, String key) {}

    private record Reset(long beganNanos, long endedNanos) {}

    private final World world;
    private final boolean leased;
    private final boolean steady;
    private final boolean prompt;

    private final boolean single;
    private final Leased leases;
    private final States states;
    private final Penalties penalties;

    /** Whether servers admit no sooner than they said: nothing is returned, nor do slots refund what others refused. */
    private final boolean lasting;

    private final Ledger ledger;
    private final Map<String, Account> accounts = new HashMap<>();
    private final Map<Resetting, Reset> resets = new HashMap<>();

    /**
     * Opens empty books.
     *
     * @param setup whether there is one server, and whether instances take leases
     * @param steady whether no fault changes what servers have
     * @param prompt whether callers return nothing, and commands are carried out as soon as they are sent
     * @param alone whether nobody but the store itself refunds, and it knows the answer to each command
     */
    Books(World world, Setup setup, boolean steady, boolean prompt, boolean alone) {
        this.world = world;
        this.leased = setup.leased();
        this.steady = steady;
        this.prompt = prompt;
        this.single = setup.masters() == 1;
        this.lasting = single && prompt && steady && !leased;
        this.penalties = new Penalties(world, steady);
        this.ledger = new Ledger(world, alone);
        this.states = new States(world);
        this.leases = new Leased(world, setup);
    }

    private Account account(String key) {
        return accounts.computeIfAbsent(key, name -> new Account());
    }

    private List<Account> accounts(Charge charge) {
        return Seam.keys(PREFIX, charge).stream().map(this::account).toList();
    }

    /** Records that a server ran a script for an instance. */
    void ran(Place place, String[] keys, byte[][] arguments, long[] reply) {
        String operation = Asked.operation(arguments);
        if (operation.equals("reset")) {
            states.reset(keys);
            for (String key : keys) {
                ledger.reset(key);
            }
            return;
        }
        for (Asked asked : Asked.of(operation, keys, arguments, reply)) {
            requireState(operation, asked, reply[0], arguments);
            if (asked.taken() && operation.equals("charge")) {
                ledger.charged(place, arguments, asked, reply[0]);
                charged(asked, reply[0]);
            } else if (asked.taken() && operation.equals("refund") && asked.isKnown(Asked.at(arguments))) {
                ledger.executed(arguments);
                ledger.refunded(asked, Asked.at(arguments));
                refunded(asked, reply[0], Asked.at(arguments));
            }
        }
    }

    private void requireState(String operation, Asked asked, long nowMicros, byte[][] arguments) {
        if (steady && operation.equals("refund") && asked.taken() && asked.isKnown(Asked.at(arguments))) {
            states.refunded(asked, nowMicros, Asked.at(arguments));
        } else if (steady && asked.state().length > 0) {
            states.asked(asked, nowMicros, operation.equals("charge") && asked.taken());
        }
    }

    private void charged(Asked asked, long nowMicros) {
        Account account = account(asked.key());
        account.largest = Math.max(account.largest, asked.permits());
        long unused = account.nowAt.merge(nowMicros, world.now(), Math::min);
        leases.charged(asked, nowMicros);
        if (asked.algorithm() == 'f') {
            account.windowEnds.put(nowMicros, asked.state()[0]);
        }
    }

    private void refunded(Asked asked, long nowMicros, long chargedMicros) {
        String key = asked.key();
        account(key).refunded += asked.permits();
        leases.refunded(asked, nowMicros, chargedMicros);
        if (leased && prompt && asked.isBucket()) {
            leases.requireUnfilled(asked, nowMicros, chargedMicros, account(key).largest);
        }
    }

    /** Records that an instance sends a script. */
    void sends(Place place, String[] keys, byte[][] arguments) {
        String operation = Asked.operation(arguments);
        for (Asked asked : operation.equals("reset") ? List.<Asked>of() : Asked.of(operation, keys, arguments, null)) {
            if (operation.equals("refund")) {
                ledger.sendsRefund(arguments, asked, Asked.at(arguments));
            } else if (leased && operation.equals("charge")) {
                leases.requireSmall(place, asked);
            }
        }
    }

    /** Records that an instance gets the reply to a script, which is {@code null} if the server refused it. */
    void told(Place place, String[] keys, byte[][] arguments, long @Nullable [] reply) {
        ledger.told(arguments);
        if (leased && reply != null && Asked.operation(arguments).equals("charge")) {
            for (Asked asked : Asked.of("charge", keys, arguments, reply)) {
                leases.told(place, asked);
                leases.answered(place, asked);
            }
        }
    }

    /** Records a decision that a caller got. */
    void granted(Place place, Decision decision, long began) {
        for (Charge charge : decision.admitted() ? decision.charges() : List.<Charge>of()) {
            if (Seam.byServer(decision, charge)) {
                Told.of(decision, charge).forEach(told -> granted(place, decision, charge, told, began));
                penalties.requireOver(charge, Seam.serverNanos(decision, charge));
            }
        }
    }

    private void granted(Place place, Decision decision, Charge charge, Told told, long began) {
        String key = told.key();
        Account account = account(key);
        long chargedNanos = Seam.serverNanos(decision, charge);
        ledger.granted(stamped(decision, charge, told), charge.permits());
        Bounds bounds = account.bounds;
        if (bounds == null) {
            bounds = new Bounds(world, key, told.limit(), leased ? 2 * Leased.LEASE_NANOS : 0);
            account.bounds = bounds;
        }
        // what was spent from a lease was spent when the call began
        long charged = account.nowAt.getOrDefault(chargedNanos / 1000, began);
        bounds.granted(decision, charge, told.limit(), Math.max(began, charged));
        if (steady && charged < began) {
            leases.requireAllowed(place, charge, key);
            world.require(
                    began - charged <= Leased.LEASE_NANOS,
                    "%s is spent %.3f s after it was charged",
                    charge,
                    (began - charged) / 1e9);
        }
        requireAvailable(account, charge, chargedNanos);
        Reset reset = resets.get(new Resetting(place, key));
        world.require(
                !steady || reset == null || began <= reset.endedNanos || charged >= reset.beganNanos,
                "%s is spent although its key was reset since it was charged",
                charge);
        Long ends = account.windowEnds.get(chargedNanos / 1000);
        world.require(
                !steady || ends == null || World.EPOCH_NANOS + began <= ends * 1000 + SLACK_NANOS,
                "%s is spent after its window has ended",
                charge);
    }

    private static Ledger.Stamped stamped(Decision decision, Charge charge, Told told) {
        return new Ledger.Stamped(
                told.key(),
                told.limit().concurrency() ? Seam.id(decision, charge) : Seam.serverNanos(decision, charge) / 1000);
    }

    /** Once callers have returned what they held, a server has all of it but what instances have taken with them. */
    void requireFree(Decision decision) {
        for (Charge charge : decision.charges()) {
            for (Told told : Told.of(decision, charge)) {
                LimitStatus status = told.status();
                long used = status == null || !status.limit().concurrency()
                        ? 0
                        : status.limit().capacity() - status.remaining();
                world.require(
                        used <= ledger.held(told.key()),
                        "%d permits of %s are in use, and callers and instances that have ended hold %d",
                        used,
                        told.key(),
                        ledger.held(told.key()));
            }
        }
    }

    /** Records when servers will admit again what they have refused. */
    void refused(Decision decision) {
        if (Seam.fromCache(decision)) {
            penalties.requireStarted(decision);
            return;
        }
        for (Charge charge : decision.admitted() ? List.<Charge>of() : decision.charges()) {
            List<Told> all = Seam.byServer(decision, charge) ? Told.of(decision, charge) : List.of();
            all.forEach(told -> refused(decision, charge, told));
        }
    }

    private void refused(Decision decision, Charge charge, Told told) {
        LimitStatus status = told.status();
        if (status == null || status.admitted()) {
            return;
        }
        requireShort(charge, told, status);
        Account account = account(told.key());
        long refusedNanos = Seam.serverNanos(decision, charge);
        Penalty penalty = told.key().equals(Seam.slowestKey(PREFIX, charge)) && charge.permits() > 0
                ? charge.policy().penalty()
                : null;
        if (penalty != null) {
            world.require(
                    account.refusedNanos > 0
                            || account.doubtful
                            || !lasting
                            || status.nextAvailableNanos() >= penalty.duration().toNanos() - PROMPT_NANOS,
                    "%s is refused without a penalty",
                    charge);
            penalties.refused(charge, refusedNanos, status.nextAvailableNanos());
        }
        account.refusedNanos = refusedNanos;
        // unless none are left, fewer permits are admitted at once
        account.availableNanos = status.remaining() > 0 ? 0 : refusedNanos + status.nextAvailableNanos();
    }

    /** Nothing closes a key for longer than its limit takes to be full again, or its penalty lasts. */
    private void requireShort(Charge charge, Told told, LimitStatus status) {
        Penalty penalty = charge.policy().penalty();
        // what was charged at the beginning of a window weighs on the next one, too
        int windows = told.limit() instanceof SlidingWindow ? 2 : 1;
        long most = Math.max(
                windows * told.limit().replenishNanos(),
                penalty == null ? 0 : penalty.duration().toNanos());
        world.require(
                status.nextAvailableNanos() <= most + SLACK_NANOS,
                "%s is refused for %.3f s, and must not be for more than %.3f s",
                charge,
                status.nextAvailableNanos() / 1e9,
                most / 1e9);
    }

    /** What a server has refused, it admits no sooner than it said, unless permits were returned. */
    private void requireAvailable(Account account, Charge charge, long chargedNanos) {
        world.require(
                !lasting
                        || charge.permits() == 0
                        || chargedNanos <= account.refusedNanos
                        || chargedNanos >= account.availableNanos,
                "%s is admitted %.3f s sooner than was said",
                charge,
                (account.availableNanos - chargedNanos) / 1e9);
    }

    /**
     * Records that a caller is about to return what it was granted.
     *
     * @param part how many permits of each charge
     */
    void returned(Decision decision, ToLongFunction<Charge> part) {
        for (Charge charge : decision.charges()) {
            if (Seam.byServer(decision, charge)) {
                long permits = part.applyAsLong(charge);
                for (Told told : Told.of(decision, charge)) {
                    ledger.granted(stamped(decision, charge, told), -permits);
                    Bounds bounds = account(told.key()).bounds;
                    if (bounds != null) {
                        bounds.returned(decision, charge, permits);
                    }
                }
            }
        }
    }

    /** Records that a key is about to be reset. */
    void reset(Charge charge) {
        accounts(charge).forEach(account -> account.reset = true);
        penalties.reset(charge);
    }

    /** Records that an instance has reset a key: what it charged before is spent no more. */
    void wasReset(Place place, Charge charge, long began) {
        Seam.keys(PREFIX, charge).forEach(key -> resets.put(new Resetting(place, key), new Reset(began, world.now())));
    }

    /**
     * What servers granted of each key, and callers have not returned, is within the bounds.
     *
     * @param gains the faults that gave permits back, the first one first
     */
    void requireBounds(List<Bounds.Gain> gains) {
        accounts.values().forEach(account -> {
            Bounds bounds = account.bounds;
            if (bounds != null && !account.reset) {
                bounds.require(gains, account.refunded);
            }
        });
    }

    /** Records that an instance takes an error for that of another command, which it may then give up, or send again. */
    void misled(Place place) {
        ledger.misled(place);
    }

    /** Records that it is not known whether a server has refused this charge. */
    void doubt(Charge charge) {
        accounts(charge).forEach(account -> account.doubtful = true);
    }

    /**
     * Once all is well again and nothing is under way, of each charge only this may be missing that its limit has not
     * refilled: what instances that have ended knew; rates whose answer or whose refund was lost; leases of a key that their
     * instance was asked to reset; and of a lease that ended late, what a bucket has refilled since its charge.
     *
     * @param gone the instances that have ended, or were closed amid work
     */
    void balance(Set<Place> gone, ToLongFunction<String> replenishNanos, ToLongFunction<Place> stoodStill) {
        ledger.balance(each -> {
            Ledger.Entry entry = each.getValue();
            Ledger.Stamped stamped = each.getKey();
            boolean over = world.now() - entry.chargedNanos() > replenishNanos.applyAsLong(stamped.key());
            Reset reset = leased ? resets.get(new Resetting(entry.place(), stamped.key())) : null;
            boolean dropped = reset != null && entry.chargedNanos() <= reset.endedNanos() + PROMPT_NANOS;
            if (over || entry.isReset() || dropped || gone.contains(entry.place())) {
                return Double.MAX_VALUE;
            }
            double kept =
                    leased ? leases.mostKept(stamped.key(), stamped.stamp(), stoodStill.applyAsLong(entry.place())) : 0;
            return entry.unknown() + kept;
        });
    }
}

package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.World.Place;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
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

    /** How the key ends of the limit that carries the penalty of its policy. */
    static final String FIRST_LIMIT = ":0";

    /** The prefix of the keys. */
    static final String PREFIX = "storm";

    private static final class Account {
        private long charged;
        private long refunded;
        private long largest;
        private long granted;
        /** Permits of calls of which some answer may have come too late. */
        private long excused;

        /** By the server's time, when it refused last, and when it will admit again. */
        private long refusedNanos;

        private long availableNanos;
        private boolean reset;

        /** When a server forgot all charges before, by its clock. */
        private long resetMicros;

        private @Nullable Bounds bounds;

        /** By the server's time, what was charged then and is not refunded; and what of it callers hold. */
        private final Map<Long, Long> chargedAt = new HashMap<>();

        private final Map<Long, Long> grantedAt = new HashMap<>();

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

    private final Map<String, Account> accounts = new HashMap<>();
    private final Map<Resetting, Reset> resets = new HashMap<>();

    /**
     * Opens empty books.
     *
     * @param setup whether there is one server, and whether instances take leases
     * @param steady whether no fault changes what servers have
     * @param prompt whether callers return nothing, and commands are carried out as soon as they are sent
     */
    Books(World world, Setup setup, boolean steady, boolean prompt) {
        this.world = world;
        this.leased = setup.leased();
        this.steady = steady;
        this.prompt = prompt;
        this.single = setup.masters() == 1;
        this.lasting = single && prompt && steady && !leased;
        this.penalties = new Penalties(world, steady);
        this.states = new States(world);
        this.leases = new Leased(world, setup);
    }

    private Account account(String key) {
        return accounts.computeIfAbsent(key, name -> new Account());
    }

    private List<Account> accounts(Charge charge) {
        return Seam.keys(PREFIX, charge).stream().map(this::account).toList();
    }

    private static String operation(byte[][] arguments) {
        return new String(arguments[0], StandardCharsets.US_ASCII);
    }

    /** Records that a server ran a script. */
    void ran(String[] keys, byte[][] arguments, long[] reply) {
        String operation = operation(arguments);
        if (operation.equals("reset")) {
            states.reset(keys);
            for (String key : keys) {
                account(key).resetMicros = reply[0];
            }
            return;
        }
        for (Asked asked : Asked.of(operation, keys, arguments, reply)) {
            requireState(operation, asked, reply[0], arguments);
            if (asked.taken()) {
                if (operation.equals("charge")) {
                    charged(asked, reply[0]);
                } else if (operation.equals("refund")) {
                    refunded(asked, reply[0], Long.parseLong(new String(arguments[1], StandardCharsets.US_ASCII)));
                }
            }
        }
    }

    private void requireState(String operation, Asked asked, long nowMicros, byte[][] arguments) {
        if (steady && operation.equals("refund") && asked.taken()) {
            states.refunded(asked, nowMicros, Long.parseLong(new String(arguments[1], StandardCharsets.US_ASCII)));
        } else if (steady && asked.state().length > 0) {
            states.asked(asked, nowMicros, operation.equals("charge") && asked.taken());
        }
    }

    private void charged(Asked asked, long nowMicros) {
        Account account = account(asked.key());
        account.charged += asked.permits();
        account.largest = Math.max(account.largest, asked.permits());
        account.chargedAt.merge(nowMicros, asked.permits(), Long::sum);
        long unused = account.nowAt.merge(nowMicros, world.now(), Math::min);
        leases.charged(asked, nowMicros);
        if (asked.algorithm() == 'f') {
            account.windowEnds.put(nowMicros, asked.state()[0]);
        }
    }

    private void refunded(Asked asked, long nowMicros, long chargedMicros) {
        String key = asked.key();
        account(key).refunded += asked.permits();
        check(key);
        requireCharged(key, chargedMicros, asked.permits());
        leases.refunded(asked, nowMicros, chargedMicros);
        if (leased && prompt && asked.isBucket()) {
            leases.requireUnfilled(asked, nowMicros, chargedMicros, account(key).largest);
        }
    }

    /** Records that an instance sends a script, or gets the reply to it. */
    void passed(Place place, String[] keys, byte[][] arguments, long @Nullable [] reply) {
        if (leased && operation(arguments).equals("charge")) {
            for (Asked asked : Asked.of("charge", keys, arguments, reply)) {
                if (reply == null) {
                    leases.requireSmall(place, asked);
                } else {
                    leases.told(place, asked);
                    leases.answered(place, asked);
                }
            }
        }
    }

    /** A refund returns what was charged at the time that it names, and only once. */
    private void requireCharged(String key, long atMicros, long permits) {
        Map<Long, Long> chargedAt = account(key).chargedAt;
        long charged = chargedAt.getOrDefault(atMicros, 0L);
        world.require(
                permits <= charged,
                "%d permits of %s are refunded to a time when %d were charged and not refunded",
                permits,
                key,
                charged);
        chargedAt.put(atMicros, charged - permits);
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
        account.granted += charge.permits();
        long chargedNanos = Seam.serverNanos(decision, charge);
        account.grantedAt.merge(chargedNanos / 1000, charge.permits(), Long::sum);
        Bounds bounds = account.bounds;
        if (bounds == null) {
            bounds = new Bounds(world, key, told.limit(), leased ? Leased.LEASE_NANOS : 0);
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
        check(key);
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
        Account account = account(told.key());
        long refusedNanos = Seam.serverNanos(decision, charge);
        Penalty penalty = told.key().endsWith(FIRST_LIMIT) && charge.permits() > 0
                ? charge.policy().penalty()
                : null;
        if (penalty != null) {
            world.require(
                    account.refusedNanos > 0
                            || account.excused > 0
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
                for (Account account : accounts(charge)) {
                    account.granted -= permits;
                    account.grantedAt.merge(Seam.serverNanos(decision, charge) / 1000, -permits, Long::sum);
                    if (account.bounds != null) {
                        account.bounds.returned(decision, charge, permits);
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

    /** Excuses permits that servers may have charged although the caller got another answer. */
    void excuse(Charge charge) {
        accounts(charge).forEach(account -> account.excused += charge.permits());
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

    /**
     * Once nothing is under way, servers hold no more charges than callers, except for the excused.
     *
     * @param certain whether it is known what became of the charges of a key
     */
    void balance(Predicate<String> certain) {
        accounts.forEach((key, account) -> {
            long surplus = account.charged - account.refunded - account.granted;
            world.require(
                    surplus <= account.excused || !certain.test(key),
                    "%s: servers have charged %d more than callers hold, and %d may be so",
                    key,
                    surplus,
                    account.excused);
        });
    }

    /** The same charge by charge, if none is excused: of a lease, what a bucket refills while it ends late remains. */
    void balanceCharges(Predicate<String> certain) {
        accounts.forEach((key, account) -> {
            Bounds bounds = account.bounds;
            if (account.excused == 0 && (steady || !account.reset) && bounds != null && certain.test(key)) {
                account.chargedAt.forEach((at, charged) -> {
                    if (at <= account.resetMicros) {
                        return;
                    }
                    double most = leased ? leases.mostKept(key, at, single && steady) : 0;
                    long surplus = charged - account.grantedAt.getOrDefault(at, 0L);
                    world.require(
                            surplus <= most,
                            "%s: of one charge, servers hold %d permits more than callers, not %.2f",
                            key,
                            surplus,
                            most);
                });
            }
        });
    }
}

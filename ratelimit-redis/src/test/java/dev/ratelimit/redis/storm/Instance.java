package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Question;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Place;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An instance of the application: its store, its limits, and what can be checked by looking at it alone. */
final class Instance implements RemoteStoreListener {

    private static final long SECOND = 1_000_000_000L;
    private static final long CHANGES_NANOS = 8 * SECOND;

    /** Of one server, in that time: it is left alone for an interval at least, and longer if it is unstable. */
    private static final int MAX_CHANGES = 14;

    /** When a caller was told of a refusal, and of what wait. */
    private record Refused(long atNanos, long waitNanos) {}

    private final int number;
    private final World world;
    private final Network network;
    private final Setup setup;
    private final Place place;
    private final Map<String, Map<Long, Refused>> refused = new HashMap<>();
    private final Deque<Long> changes = new ArrayDeque<>();
    private @Nullable RedisStore redis;
    private @Nullable RateLimitStore store;
    private @Nullable Waiters waiters;
    private StoreFailure.@Nullable Reason lastFailure;

    /** How often servers had refused to write when this instance used them again. */
    private long refusedBefore;

    private final Map<String, Long> returned = new HashMap<>();
    private final Restraint restraint;

    /** Whether nothing but what callers wait for is in flight: no leases, and no refunds. */
    private final boolean onlyCallersAsk;

    private boolean startedAmidFaults;
    private final Set<byte[][]> probes = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean closed;
    private boolean otherLimits;
    private int callers;
    private long endedNanos;
    private long leftAloneNanos;
    private int failures;
    private int crowded;
    private int interrupts;

    Instance(int number, World world, Network network, History history) {
        this.number = number;
        this.world = world;
        this.network = network;
        this.setup = history.setup();
        this.place = world.place("instance " + number);
        boolean holds =
                setup.policies().stream().anyMatch(terms -> terms.limits().contains("held"));
        this.onlyCallersAsk = !setup.leased()
                && !setup.isCluster()
                && history.keepsAll()
                && history.none(Fault::losesAnswers)
                && history.nobodyAsks(Question.INTERRUPT, Question.ACQUIRE);
        this.restraint = new Restraint(world, place, setup, history.keepsAll() && !setup.leased() && !holds);
    }

    Place place() {
        return place;
    }

    /** Opens its store; waits meanwhile. */
    void open() {
        network.add(this);
        network.connecting().afterwards(place, this::connected);
        startedAmidFaults = !isReachable();
        Seam.Net net = network.from(place);
        Random random = new Random(setup.seed() + number);
        RedisStoreBuilder builder =
                setup.masters() > 1 ? Seam.cluster(net, place, random) : Seam.single(net, place, random);
        if (setup.mixed() && number > 0) {
            Seam.otherVersion(builder);
        }
        RedisStore built = configure(builder, setup)
                .prefix(Books.PREFIX)
                .ticker(place)
                .scheduler(place)
                .executor(Runnable::run)
                .listener(this)
                .build();
        redis = built;
        store = leasing(built, setup, place, place);
        place.startedNanos = world.now();
        startedAmidFaults |= !isReachable();
    }

    private void connected(Wire wire) {
        if (!setup.isCluster() && usable()) {
            restraint.connected(wire);
        }
    }

    private boolean isReachable() {
        return network.masters().stream().allMatch(server -> network.isWell(place, server));
    }

    /** Whether it has left a server alone since then or for longer. */
    boolean leavesAloneSince(long nanos) {
        return usable() && !available() && leftAloneNanos <= nanos;
    }

    /** Whether it may not know yet which server has which slots. */
    boolean startedAmidFaults() {
        return startedAmidFaults;
    }

    /** Sets what the histories differ in. */
    static RedisStoreBuilder configure(RedisStoreBuilder builder, Setup setup) {
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            builder.onStoreFailure("p" + policy, setup.policies().get(policy).onFailure());
        }
        return builder.deadline(Duration.ofNanos(setup.deadlineNanos()))
                .maxInFlight(setup.maxInFlight())
                .failures(setup.failures())
                .openFor(Duration.ofNanos(setup.openForNanos()))
                .localShare(setup.localShare())
                .denyCache(Duration.ofNanos(setup.denyCacheNanos()));
    }

    /** The store that callers use. */
    static RateLimitStore leasing(RedisStore store, Setup setup, Ticker ticker, Scheduler scheduler) {
        return setup.leased()
                ? new LeasingStore(store, 0.2, Duration.ofSeconds(1), RedisStore::decidedByRedis, ticker, scheduler)
                : store;
    }

    /** Records that a caller begins to wait for the store. */
    void begins() {
        callers++;
    }

    /** Records that a caller waits no longer. */
    void ends() {
        callers--;
        endedNanos = world.now();
    }

    /** Checks that it may send so many decisions in one command: somebody waits for each, or for a lease. */
    void sends(int decisions) {
        if (!setup.isCluster()) {
            restraint.asked();
        }
        long leases = setup.leased() ? (long) setup.keys() * setup.policies().size() : 0;
        world.require(
                callers + leases >= decisions
                        || store == null
                        // what is written was wanted when that was decided
                        || world.now() - endedNanos <= Wire.MAX_WRITE_NANOS
                        || world.now() - place.stillUntil < setup.deadlineNanos(),
                "%s sends %d decisions, and %d callers wait",
                place,
                decisions,
                callers);
    }

    /** Records that it sends a refund. */
    void refunds() {
        restraint.refunds();
    }

    /** Checks that it may send a probe. */
    void probes(byte[][] probe) {
        // a server that does not know the script is sent its text
        if (probes.add(probe) && !setup.isCluster()) {
            restraint.probes();
        }
    }

    /** Records that a server answers a probe. */
    void probeAnswered() {
        restraint.probeAnswered();
    }

    /** Whether the last probe of its only server was sent after this time, and in vain. */
    boolean hasProbedInVain(long nanos) {
        return !setup.isCluster() && usable() && restraint.hasProbedInVain(nanos);
    }

    /** Sets who waits in its queue. */
    void wait(Waiters those) {
        waiters = those;
    }

    Waiters waiters() {
        return Objects.requireNonNull(waiters);
    }

    /** Closes its queue and its store; waits meanwhile. */
    void close() {
        closed = true;
        waiters().close();
        store().close();
    }

    /** Whether it leaves no server alone. */
    boolean available() {
        RedisStore open = redis;
        return open != null && open.available();
    }

    RateLimitStore store() {
        RateLimitStore open = store;
        if (open == null) {
            throw new IllegalStateException(place + " has not started");
        }
        return open;
    }

    int number() {
        return number;
    }

    boolean isClosed() {
        return closed && !place.hasEnded();
    }

    boolean usable() {
        return store != null && !closed && !place.hasEnded();
    }

    /** Gives it other limits, as a new version of the application would. */
    void changeLimits() {
        otherLimits = true;
    }

    /** The charge that a caller of this instance wants. */
    Charge charge(Want want) {
        return setup.charge(want, otherLimits);
    }

    @Override
    public void failed(StoreFailure.Reason reason) {
        boolean stoodStill = place.stillUntil > world.now() - setup.deadlineNanos() - Storm.WAKE_NANOS;
        boolean crowds = reason == RemoteStoreFailure.SATURATED || (reason == RemoteStoreFailure.STALLED && stoodStill);
        failures += reason == RemoteStoreFailure.SATURATED || reason == RemoteStoreFailure.STALLED ? 0 : 1;
        crowded += crowds ? 1 : 0;
        lastFailure = reason;
        if (store != null && !setup.isCluster()) {
            restraint.failed(reason);
        }
        world.require(
                reason != RemoteStoreFailure.SATURATED || !onlyCallersAsk || callers > setup.maxInFlight(),
                "%s sends nothing for a caller although only %d wait, and %d may",
                place,
                callers,
                setup.maxInFlight());
        world.note(() -> place + ": failed with " + reason);
    }

    /** How many requests so far Redis may have decided without the caller's knowledge. */
    int failures() {
        return failures;
    }

    /** How many requests so far found no place among those in flight, or were not sent. */
    int crowded() {
        return crowded;
    }

    StoreFailure.@Nullable Reason lastFailure() {
        return lastFailure;
    }

    void forgetFailure() {
        lastFailure = null;
    }

    /** Records that one of its callers was interrupted. */
    void interrupted() {
        interrupts++;
    }

    int interrupts() {
        return interrupts;
    }

    @Override
    public void changed() {
        RedisStore open = redis;
        world.note(() ->
                place + (open != null && open.available() ? ": all servers are used" : ": a server is left alone"));
        requireReason();
        if (open != null && open.available()) {
            restraint.used();
            refusedBefore = network.refusedWrites();
        } else {
            restraint.stopped();
            leftAloneNanos = world.now();
            world.in(Storm.RECOVERY_NANOS, world.outside(), network::requireUsed);
        }
        long now = world.now();
        changes.add(now);
        while (now - changes.peek() > CHANGES_NANOS) {
            changes.remove();
        }
        world.require(
                setup.openForNanos() < SECOND || changes.size() <= MAX_CHANGES * setup.masters(),
                "%s stops and begins to use a server %d times in 8 s",
                place,
                changes.size());
    }

    /**
     * A server is left alone when it says that it cannot write, or after the configured number of failures, of which callers may not have told yet, or never
     * will, since they were interrupted.
     */
    private void requireReason() {
        RedisStore open = redis;
        boolean refused = network.refusedWrites() > refusedBefore;
        if (open != null && !open.available() && !setup.isCluster() && !refused) {
            world.require(
                    restraint.failures() + world.unfinished(place) + interrupts >= setup.failures(),
                    "%s stops using a server after %d of the last requests failed, and %d calls are under way",
                    place,
                    restraint.failures(),
                    world.unfinished(place));
        }
    }

    /**
     * Checks what a caller was answered.
     *
     * @param began when it asked
     */
    void answered(Decision decision, long began) {
        if (decision.charges().stream().anyMatch(charge -> Seam.byServer(decision, charge))) {
            restraint.answered();
        }
        for (Charge charge : decision.charges()) {
            world.require(
                    !Seam.inMemory(decision, charge)
                            || setup.onFailure(charge.policy().name()) == OnStoreFailure.LOCAL,
                    "%s is decided in memory",
                    charge);
        }
        requireFresh(decision, began);
    }

    /** A refusal of the same permits is repeated without asking for a second at most. */
    private void requireFresh(Decision decision, long began) {
        for (Charge charge : decision.admitted() ? List.<Charge>of() : decision.charges()) {
            for (Told told : Told.of(decision, charge)) {
                LimitStatus status = told.status();
                Map<Long, Refused> times = refused.computeIfAbsent(told.key(), key -> new HashMap<>());
                if (status != null && !status.admitted() && Seam.fromCache(decision)) {
                    requireFresh(charge, status, times);
                } else if (status != null
                        && !status.admitted()
                        && Seam.byServer(decision, charge)
                        && began >= returned.getOrDefault(told.key(), 0L)) {
                    times.put(charge.permits(), new Refused(world.now(), status.retryAfterNanos()));
                }
            }
        }
    }

    private void requireFresh(Charge charge, LimitStatus status, Map<Long, Refused> times) {
        world.require(
                !status.limit().concurrency(),
                "%s refuses %s without having asked whether a permit has come back",
                place,
                charge);
        if (setup.leased() && charge.permits() >= Leased.FIRST && !times.containsKey(charge.permits())) {
            // it was refused a lease of as many
            return;
        }
        Refused told = times.getOrDefault(charge.permits(), new Refused(Long.MIN_VALUE / 2, 0));
        long latest = told.atNanos;
        requireSameEnd(charge, status, told);
        world.require(
                world.now() - latest <= setup.denyCacheNanos() + setup.deadlineNanos() + Storm.WAKE_NANOS,
                "%s refuses %s without having asked for %.3f s",
                place,
                charge,
                (world.now() - latest) / 1e9);
    }

    /** A refusal that is repeated ends when the first one said; of calls at the same time, the last answer may not be kept. */
    private void requireSameEnd(Charge charge, LimitStatus status, Refused told) {
        long passed = world.now() - told.atNanos;
        world.require(
                world.unfinished(place) > 1
                        || told.atNanos < 0
                        || Math.abs(passed + status.retryAfterNanos() - told.waitNanos)
                                <= setup.deadlineNanos() + Storm.WAKE_NANOS,
                "%s says that %s must wait for %.6f s, and said %.6f s before that it must for %.6f s",
                place,
                charge,
                status.retryAfterNanos() / 1e9,
                passed / 1e9,
                told.waitNanos / 1e9);
    }

    /** Records that it has returned permits of a server: what that refused before does not count any more. */
    void returned(Charge charge) {
        for (String key : Seam.keys(Books.PREFIX, charge)) {
            refused.remove(key);
            returned.put(key, world.now());
        }
    }
}

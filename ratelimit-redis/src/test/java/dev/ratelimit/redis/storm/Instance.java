package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.RedisStoreListener;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.History.Setup;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Place;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An instance of the application: its store, its limits, and what can be checked by looking at it alone. */
final class Instance implements RedisStoreListener {

    private static final long SECOND = 1_000_000_000L;
    private static final long CHANGES_NANOS = 8 * SECOND;

    /** Of one server, in that time: it is asked again after 1, 2, 4 and 8 s. */
    private static final int MAX_CHANGES = 8;

    private final int number;
    private final World world;
    private final Network network;
    private final History history;
    private final Setup setup;
    private final Consumer<String> notes;
    private final Place place;
    private final Map<String, Long> refused = new HashMap<>();
    private final Deque<Long> changes = new ArrayDeque<>();
    private @Nullable RedisStore store;
    private @Nullable RedisStoreFailure lastFailure;
    private boolean closed;
    private boolean otherLimits;
    private int failures;
    private int interrupts;

    Instance(int number, World world, Network network, History history, Consumer<String> notes) {
        this.number = number;
        this.world = world;
        this.network = network;
        this.history = history;
        this.setup = history.setup();
        this.notes = notes;
        this.place = world.place("instance " + number);
    }

    Place place() {
        return place;
    }

    /** Opens its store; waits meanwhile. */
    void open() {
        Seam.Net net = network.from(place);
        Random random = new Random(history.seed() + number);
        RedisStoreBuilder builder =
                setup.masters() > 1 ? Seam.cluster(net, place, random) : Seam.single(net, place, random);
        if (setup.deny()) {
            builder.onStoreFailure("p1", OnStoreFailure.DENY);
        }
        if (setup.leased()) {
            builder.leased(0.2, Duration.ofSeconds(1));
        }
        store = builder.prefix(Books.PREFIX)
                .ticker(place)
                .scheduler(place)
                .deadline(Duration.ofNanos(setup.deadlineNanos()))
                .maxInFlight(setup.maxInFlight())
                .failures(setup.failures())
                .openFor(Duration.ofNanos(setup.openForNanos()))
                .localShare(setup.localShare())
                .denyCache(setup.denyCache() ? Duration.ofSeconds(1) : Duration.ZERO)
                .listener(this)
                .build();
    }

    /** Closes its store; waits meanwhile. */
    void close() {
        closed = true;
        store().close();
    }

    RedisStore store() {
        RedisStore open = store;
        if (open == null) {
            throw new IllegalStateException(place + " has not started");
        }
        return open;
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
        return policy(history, want.policy(), otherLimits).charge("k" + want.key(), want.permits());
    }

    /** The policy of this number, with its first or with its other limits. */
    static Policy policy(History history, int number, boolean other) {
        long more = other ? 2 : 1;
        boolean leased = history.setup().leased();
        Limit limit = switch (number) {
            case 0 ->
                leased
                        ? TokenBucket.of(Rate.parse(more * 20 + "/second"), more * 100)
                        : TokenBucket.of(Rate.parse(more * 10 + "/second"), more * 20);
            case 1 ->
                history.seed() % 2 == 0
                        ? FixedWindow.of(Rate.parse(more * 30 + "/2s"))
                        : SlidingWindow.of(Rate.parse(more * 30 + "/3s"));
            default ->
                leased
                        ? TokenBucket.of(Rate.parse(more * 100 + "/second"))
                        : SlidingLog.of(Rate.parse(more * 20 + "/2s"));
        };
        return Policy.of("p" + number, limit);
    }

    @Override
    public void failed(RedisStoreFailure reason) {
        failures++;
        lastFailure = reason;
        notes.accept(place + ": " + reason);
    }

    /** How many requests Redis has not decided so far. */
    int failures() {
        return failures;
    }

    @Nullable
    RedisStoreFailure lastFailure() {
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

    /** Servers that fail again and again are asked less and less often. */
    @Override
    public void changed() {
        notes.accept(place + ": a server is used again, or not any more");
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

    /** A refusal is repeated without asking for a second at most. */
    void requireFresh(Decision decision) {
        if (decision.admitted()) {
            return;
        }
        if (!Seam.fromCache(decision)) {
            decision.charges().forEach(charge -> refused.put(Seam.firstKey(Books.PREFIX, charge), world.now()));
            return;
        }
        long latest = decision.charges().stream()
                .map(charge -> refused.get(Seam.firstKey(Books.PREFIX, charge)))
                .filter(Objects::nonNull)
                .mapToLong(Long::longValue)
                .max()
                .orElse(Long.MIN_VALUE / 2);
        world.require(
                world.now() - latest <= SECOND + setup.deadlineNanos() + Storm.WAKE_NANOS,
                "%s refuses %s without having asked for %.3f s",
                place,
                decision.charges(),
                (world.now() - latest) / 1e9);
    }
}

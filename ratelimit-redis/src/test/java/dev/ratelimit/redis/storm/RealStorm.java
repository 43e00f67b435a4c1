package dev.ratelimit.redis.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Trouble;
import dev.ratelimit.redis.storm.Step.Want;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs a history on real servers. */
final class RealStorm implements AutoCloseable {

    /** How much faster than the simulation's time. */
    private static final long FASTER = 40;

    private static final int THREADS = 16;

    /** More than any limit grants at once. */
    private static final long BEYOND = 4;

    /** Who granted permits of a key: an instance's memory, or servers. */
    private record Granter(int instance, Charge key) {}

    /** What an instance decided. */
    private record Decided(int instance, Decision decision) {}

    private static final class Tally {
        private final AtomicLong granted = new AtomicLong();
        private final AtomicLong returned = new AtomicLong();
    }

    private static final int SERVERS = -1;

    private final History history;
    private final List<RedisServer> servers;
    private final @Nullable RedisCluster cluster;
    private final List<AbstractRedisClient> clients = new ArrayList<>();
    private final List<RateLimitStore> stores = new ArrayList<>();
    private final ScheduledExecutorService callers = Executors.newScheduledThreadPool(THREADS);
    private final ScheduledExecutorService operator = Executors.newSingleThreadScheduledExecutor();
    private final Map<Integer, Decided> decisions = new ConcurrentHashMap<>();
    private final Map<Granter, Tally> tallies = new ConcurrentHashMap<>();
    private final Set<RateLimitStore> closed = ConcurrentHashMap.newKeySet();
    private long losses;
    private @Nullable Trouble active;
    private final long began = System.nanoTime();

    RealStorm(History history, List<RedisServer> servers, @Nullable RedisCluster cluster) {
        this.history = history;
        this.servers = servers;
        this.cluster = cluster;
        for (int i = 0; i < history.setup().instances(); i++) {
            RedisStoreBuilder builder;
            if (cluster == null) {
                RedisClient client = RedisClient.create(servers.get(0).uri());
                clients.add(client);
                builder = RedisStore.builder(client);
            } else {
                RedisClusterClient client = RedisClusterClient.create(cluster.uris());
                clients.add(client);
                builder = RedisStore.builder(client);
            }
            RedisStore store = Instance.configure(builder, history.setup())
                    .prefix(prefix())
                    .openFor(Duration.ofNanos(history.setup().openForNanos() / FASTER))
                    .build();
            stores.add(Instance.leasing(store, history.setup(), Ticker.system(), Scheduler.system()));
        }
    }

    private String prefix() {
        return "storm" + history.setup().seed();
    }

    /** Takes all steps, and waits for the last call and the end of the last fault. */
    void run() {
        List<Future<?>> running = new ArrayList<>();
        for (Step step : history.steps()) {
            if (step instanceof Ask ask) {
                running.add(callers.schedule(() -> call(ask), ask.atNanos() / FASTER, TimeUnit.NANOSECONDS));
            } else if (step instanceof Trouble trouble) {
                long delay = trouble.atNanos() / FASTER;
                running.add(operator.schedule(() -> begin(trouble), delay, TimeUnit.NANOSECONDS));
                running.add(operator.schedule(
                        () -> end(trouble), delay + trouble.forNanos() / FASTER, TimeUnit.NANOSECONDS));
            }
        }
        for (Future<?> each : running) {
            assertThat(each).as("seed %s", history.setup().seed()).succeedsWithin(Duration.ofSeconds(60));
        }
    }

    private void call(Ask ask) {
        RateLimitStore store = stores.get(ask.instance());
        List<Charge> charges = ask.wants().stream().map(this::charge).toList();
        try {
            switch (ask.question()) {
                case DECIDE -> {
                    Decision decision = store.decide(charges);
                    decisions.put(ask.id(), new Decided(ask.instance(), decision));
                    forGranted(ask.instance(), decision, tally -> tally.granted);
                }
                case PEEK -> assertThat(store.peek(charges).charges()).isEqualTo(Charge.addUp(charges));
                case REFUND, REFUND_HALF -> {
                    Decided former = decisions.remove(ask.of());
                    if (former != null) {
                        forGranted(former.instance, former.decision, tally -> tally.returned);
                        stores.get(former.instance).refund(former.decision);
                    }
                }
                case RESET, INTERRUPT, ACQUIRE -> {}
            }
        } catch (StoreUnavailableException e) {
            assertThat(history.setup().onFailure(e.policy())).isEqualTo(OnStoreFailure.DENY);
        }
    }

    private Charge charge(Want want) {
        return history.setup().charge(want, false);
    }

    private void forGranted(int instance, Decision decision, Function<Tally, AtomicLong> counter) {
        for (Charge charge : decision.charges()) {
            boolean byServer = Seam.byServer(decision, charge);
            if (decision.admitted() && (byServer || Seam.inMemory(decision, charge))) {
                Charge key = charge.policy().charge(charge.key());
                Tally tally = tallies.computeIfAbsent(
                        new Granter(byServer ? SERVERS : instance, key), granter -> new Tally());
                // what costs more than a share takes all of it
                long share = limit(byServer ? SERVERS : instance, charge).capacity();
                counter.apply(tally).addAndGet(Math.min(charge.permits(), share));
            }
        }
    }

    /** One fault at a time: a server that stands still would also stop the others' preparation. */
    private void begin(Trouble trouble) {
        if (active != null) {
            return;
        }
        active = trouble;
        RedisServer server = servers.get(trouble.server());
        switch (trouble.fault()) {
            case HANGING, VANISHED -> server.pause();
            case EMPTIED, KILLED -> {
                losses++;
                server.kill();
            }
            case SCRIPTS_FLUSHED -> server.<String>ask(redis -> redis.scriptFlush());
            case OUT_OF_MEMORY -> server.<String>ask(redis -> redis.configSet("maxmemory", "1"));
            case CUT ->
                server.<Long>ask(
                        redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
            case SLOT_MOVES -> move(false);
            case CLOSED -> close(stores.get(trouble.instance()));
            default -> {}
        }
    }

    private void end(Trouble trouble) {
        if (!trouble.equals(active)) {
            return;
        }
        active = null;
        RedisServer server = servers.get(trouble.server());
        switch (trouble.fault()) {
            case HANGING, VANISHED -> server.resume();
            case EMPTIED, KILLED -> server.restart();
            case OUT_OF_MEMORY -> server.<String>ask(redis -> redis.configSet("maxmemory", "0"));
            case SLOT_MOVES -> move(true);
            default -> {}
        }
        if (cluster != null) {
            cluster.awaitReady();
        }
    }

    /** Begins or ends to move the slot of a key to the next server. */
    private void move(boolean ends) {
        RedisCluster moving = Objects.requireNonNull(cluster);
        String key = Seam.slowestKey(prefix(), charge(new Want(0, 0, 0)));
        RedisServer from = moving.masterOf(key);
        RedisServer to = servers.get((servers.indexOf(from) + 1) % servers.size());
        int slot = SlotHash.getSlot(key);
        if (ends) {
            int unused = moving.moveKeys(slot, from, to);
            moving.endMove(slot, to);
        } else {
            moving.beginMove(slot, from, to);
        }
    }

    private void close(RateLimitStore store) {
        closed.add(store);
        store.close();
    }

    /** Takes what is left of the first key under each policy: calls alone seldom reach a limit. */
    void exhaust() {
        int instance = IntStream.range(0, stores.size())
                .filter(number -> !closed.contains(stores.get(number)))
                .findFirst()
                .orElse(stores.size());
        for (int policy = 0; policy < history.setup().policies().size() && instance < stores.size(); policy++) {
            Charge charge = charge(new Want(policy, 0, 1));
            long enough = BEYOND * limit(SERVERS, charge).capacity();
            boolean admitted = true;
            for (long i = 0; i < enough && admitted; i++) {
                admitted = isAdmitted(instance, charge);
            }
        }
    }

    private boolean isAdmitted(int instance, Charge charge) {
        try {
            Decision decision = stores.get(instance).decide(List.of(charge));
            forGranted(instance, decision, tally -> tally.granted);
            return decision.admitted();
        } catch (StoreUnavailableException e) {
            // a lease may have the only place in flight
            return false;
        }
    }

    /** What servers, and each instance's memory, granted of each key in all. */
    void requireBounds() {
        double seconds = (System.nanoTime() - began) / 1e9;
        tallies.forEach((granter, tally) -> {
            boolean servers = granter.instance == SERVERS;
            LimitAlgorithm limit = limit(granter.instance, granter.key);
            // a lease may be spent or refunded up to a second after it was charged
            double bound = bound(limit, seconds + (servers && history.setup().leased() ? 2 : 0))
                    + (servers ? losses * bound(limit, 0) : 0)
                    + tally.returned.get();
            assertThat((double) tally.granted.get())
                    .as("seed %s: %s by %s", history.setup().seed(), granter.key, servers ? "servers" : "memory")
                    .isLessThanOrEqualTo(bound);
        });
    }

    private LimitAlgorithm limit(int instance, Charge charge) {
        LimitAlgorithm whole = charge.policy().algorithms().get(0);
        return instance == SERVERS ? whole : whole.scaled(history.setup().localShare());
    }

    /** What docs/algorithms.md says that a limit admits in an interval of this length. */
    private static double bound(LimitAlgorithm limit, double seconds) {
        double n = limit.capacity();
        double windows = Math.floor(seconds * 1e9 / limit.replenishNanos());
        if (limit instanceof TokenBucket) {
            return n + n * seconds * 1e9 / limit.replenishNanos();
        }
        boolean exact = limit instanceof SlidingLog || limit instanceof Concurrency;
        return exact ? n * (windows + 1) : n * (windows + 2);
    }

    /** Whether all open stores ask for all keys. */
    boolean isWell() {
        return stores.stream()
                .filter(store -> !closed.contains(store))
                .allMatch(store -> IntStream.range(0, history.setup().keys()).allMatch(key -> {
                    Charge charge = charge(new Want(0, key, 0));
                    return Seam.byServer(store.peek(List.of(charge)), charge);
                }));
    }

    @Override
    public void close() {
        callers.shutdownNow();
        operator.shutdownNow();
        stores.forEach(RateLimitStore::close);
        clients.forEach(client -> client.shutdown(Duration.ZERO, Duration.ZERO));
    }
}

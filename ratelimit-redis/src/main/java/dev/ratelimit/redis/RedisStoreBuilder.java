package dev.ratelimit.redis;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.remote.RemoteStoreListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link RedisStore}. Not thread-safe. */
@CheckReturnValue
public final class RedisStoreBuilder {

    private static final int KNOWN_KEYS = 1 << 17;

    /** The maximum time that a new store waits for its connections. */
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    /** The policy that warms up the connections. */
    private static final Policy FIRST = Policy.of("first", TokenBucket.of(Rate.parse("1/second")));

    private final Function<ServerSettings, Topology> topology;
    private final Map<String, OnStoreFailure> onFailure = new HashMap<>();
    private OnStoreFailure otherwise = OnStoreFailure.LOCAL;
    private Ticker ticker = Ticker.system();
    private @Nullable Scheduler scheduler;
    private @Nullable Executor executor;
    private RemoteStoreListener listener = new RemoteStoreListener() {};
    private String prefix = "ratelimit";
    private Duration deadline = Duration.ofMillis(50);
    private int maxInFlight = 256;
    private int failures = Breaker.WINDOW / 2;
    private Duration openFor = Duration.ofSeconds(1);
    private double localShare = 1;
    private Duration denyCache = Duration.ofSeconds(1);
    private UnaryOperator<Script> edition = script -> script;
    private Executor threads = RedisStoreBuilder::inThread;
    private RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();

    RedisStoreBuilder(Function<ServerSettings, Topology> topology) {
        this.topology = topology;
    }

    /**
     * Sets the prefix of all keys in Redis.
     *
     * @param prefix 1 to 32 letters, digits, dots, hyphens, underscores and colons; {@code ratelimit} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder prefix(String prefix) {
        this.prefix = prefix;
        return this;
    }

    /**
     * Limits the time of a decision, including connecting.
     *
     * @param deadline above zero; 50 ms by default
     * @return this builder
     * @throws IllegalArgumentException if {@code deadline} is not positive
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder deadline(Duration deadline) {
        this.deadline = positive("deadline", deadline);
        return this;
    }

    /**
     * Limits the commands in flight to one server; further ones fail immediately.
     *
     * @param maxInFlight at least 1; 256 by default
     * @return this builder
     * @throws IllegalArgumentException if {@code maxInFlight} is less than 1
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder maxInFlight(int maxInFlight) {
        this.maxInFlight = inRange("max-in-flight", maxInFlight, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Sets how many of the last 20 requests to a server must fail before the store stops using it.
     *
     * @param failures from 1 to 20; 10 by default
     * @return this builder
     * @throws IllegalArgumentException if {@code failures} is out of range
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder failures(int failures) {
        this.failures = inRange("failures", failures, Breaker.WINDOW);
        return this;
    }

    /**
     * Sets how often the store tries whether a failing server answers again. It does so by itself, with a key of its own, so
     * that no request waits for it. A server that failed again within ten times this time must succeed three times in a row,
     * at a quarter of it.
     *
     * @param openFor above zero, plus or minus 10%; 1 s by default
     * @return this builder
     * @throws IllegalArgumentException if {@code openFor} is not positive
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder openFor(Duration openFor) {
        this.openFor = positive("open-for", openFor);
        return this;
    }

    /**
     * Sets what applies to policies while Redis does not answer, unless they have a choice of their own.
     *
     * @param choice {@link OnStoreFailure#LOCAL} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder onStoreFailure(OnStoreFailure choice) {
        this.otherwise = choice;
        return this;
    }

    /**
     * Sets what applies to one policy while Redis does not answer.
     *
     * @param policy its name
     * @param choice instead of that for all policies
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder onStoreFailure(String policy, OnStoreFailure choice) {
        onFailure.put(policy, choice);
        return this;
    }

    /**
     * Sets the share of each limit that this instance enforces while it decides alone.
     *
     * @param localShare above 0, at most 1, the default; for {@code n} instances, {@code 1.0 / n} keeps the limit
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder localShare(double localShare) {
        this.localShare = localShare;
        return this;
    }

    /**
     * Sets for how long a key refused by Redis is refused without asking again; never longer than its wait.
     *
     * @param denyCache zero or more; with zero, Redis is always asked; 1 s by default
     * @return this builder
     * @throws IllegalArgumentException if {@code denyCache} is negative
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder denyCache(Duration denyCache) {
        if (denyCache.isNegative()) {
            throw new IllegalArgumentException("deny-cache must not be negative but was " + denyCache);
        }
        this.denyCache = denyCache;
        return this;
    }

    /**
     * Sets the clock that this instance uses for waits and for local decisions.
     *
     * @param ticker the system's by default; decisions by Redis use the server's clock
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder ticker(Ticker ticker) {
        this.ticker = ticker;
        return this;
    }

    /**
     * Sets the scheduler of timeouts and sweeps, in which threads wait for Redis.
     *
     * @param scheduler {@linkplain Scheduler#of that of the ticker} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder scheduler(Scheduler scheduler) {
        this.scheduler = scheduler;
        return this;
    }

    /**
     * Sets what runs dependents of {@link RedisStore#decideAsync}, {@code peekAsync} and {@code refundAsync} that have to
     * wait for an answer. If all of them are short and never block, such as those that hand over to an event loop, {@code
     * Runnable::run} saves a change of threads: they then run on the client's threads and on the scheduler's.
     *
     * @param executor {@link Scheduler#blockingExecutor} of the scheduler by default; what it rejects runs on {@link
     *     Scheduler#executor}
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder executor(Executor executor) {
        this.executor = executor;
        return this;
    }

    /**
     * Sets the listener that is notified of failures.
     *
     * @param listener replaces a previous one; none by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public RedisStoreBuilder listener(RemoteStoreListener listener) {
        this.listener = new GuardedListener(listener);
        return this;
    }

    /** Replaces each script before it runs. */
    @CanIgnoreReturnValue
    RedisStoreBuilder edition(UnaryOperator<Script> other) {
        this.edition = other;
        return this;
    }

    /** What runs attempts to connect, instead of a thread for each. */
    @CanIgnoreReturnValue
    RedisStoreBuilder threads(Executor threads) {
        this.threads = threads;
        return this;
    }

    /** The source of jitter. */
    @CanIgnoreReturnValue
    RedisStoreBuilder random(RandomGenerator random) {
        this.random = random;
        return this;
    }

    private static void inThread(Runnable attempt) {
        Thread thread = new Thread(attempt, "ratelimit-redis-connect");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Builds a store. It connects and waits for at most 2 s; it also starts without Redis, and each policy's
     * {@link OnStoreFailure} then applies.
     *
     * @return a store, which the caller closes
     * @throws IllegalArgumentException if the prefix or the local share is not valid
     */
    public RedisStore build() {
        Topology servedBy = topology.apply(settings());
        OperatorLog operatorLog = new OperatorLog(listener, servedBy, openFor);
        Router router = new Router(servedBy, new KeyNames(prefix), settings(), operatorLog);
        StatusCache statusCache = new StatusCache(ticker, KNOWN_KEYS, denyCache.toNanos());
        LocalDecider local = new LocalDecider(
                InMemoryStore.builder().ticker(ticker).scheduler(scheduler()).build(),
                new LocalLimits(localShare),
                statusCache,
                onFailure,
                otherwise,
                openFor);
        RedisStore store = new RedisStore(router, local, statusCache, this);
        Script.initialize();
        try {
            router.warmUp(FIRST.charge(), WARM_UP.toNanos());
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
        return store;
    }

    /** The present settings of servers. */
    ServerSettings settings() {
        return new ServerSettings(
                ticker, scheduler(), deadline, maxInFlight, failures, openFor, edition, threads, random);
    }

    Ticker ticker() {
        return ticker;
    }

    private Scheduler scheduler() {
        return scheduler == null ? Scheduler.of(ticker) : scheduler;
    }

    Executor executor() {
        return executor == null ? scheduler().blockingExecutor() : executor;
    }

    RemoteStoreListener listener() {
        return listener;
    }

    Duration deadline() {
        return deadline;
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " must be positive but was " + value);
        }
        return value;
    }

    private static int inRange(String name, int value, int max) {
        if (value < 1 || value > max) {
            throw new IllegalArgumentException(name + " must be from 1 to " + max + " but was " + value);
        }
        return value;
    }
}

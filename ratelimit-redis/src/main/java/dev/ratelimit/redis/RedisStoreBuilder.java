package dev.ratelimit.redis;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.remote.RemoteStoreBuilder;
import dev.ratelimit.remote.RemoteStoreSettings;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Settings of a {@link RedisStore}. Not thread-safe. */
@CheckReturnValue
public final class RedisStoreBuilder extends RemoteStoreBuilder<RedisStoreBuilder> {

    /** The maximum time that a new store waits for its connections. */
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    /** The policy that warms up the connections. */
    private static final Policy FIRST = Policy.of("first", TokenBucket.of(Rate.parse("1/second")));

    private final Function<RemoteStoreSettings, Topology> topology;
    private String prefix = "ratelimit";
    private UnaryOperator<Script> edition = script -> script;
    private Executor threads = RedisStoreBuilder::inThread;

    RedisStoreBuilder(Function<RemoteStoreSettings, Topology> topology) {
        super("Redis");
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
        spread(random);
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
        ServerSettings settings = settings();
        Topology servedBy = topology.apply(settings.remote());
        RedisStore store = new RedisStore(new Router(servedBy, new KeyNames(prefix), settings), settings.remote());
        Script.initialize();
        try {
            store.warmUp(FIRST.charge(), WARM_UP);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
        return store;
    }

    /** The present settings of servers. */
    ServerSettings settings() {
        return new ServerSettings(remoteSettings(), edition, threads);
    }
}

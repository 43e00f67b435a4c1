package dev.ratelimit.remote;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of any remote store. Not thread-safe.
 *
 * @param <B> the builder of a store, which adds that store's own settings
 */
@CheckReturnValue
public abstract class RemoteStoreBuilder<B extends RemoteStoreBuilder<B>> {

    final String name;
    final Map<String, OnStoreFailure> onFailure = new HashMap<>();
    OnStoreFailure otherwise = OnStoreFailure.LOCAL;
    Ticker ticker = Ticker.system();

    @Nullable
    Scheduler scheduler;

    @Nullable
    Executor executor;

    RemoteStoreListener listener = new RemoteStoreListener() {};
    Duration deadline = Duration.ofMillis(50);
    int maxInFlight = 256;
    int failures = Breaker.WINDOW / 2;
    Duration openFor = Duration.ofSeconds(1);
    double localShare = 1;
    Duration denyCache = Duration.ofSeconds(1);
    RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();

    /**
     * Creates a builder with the default settings.
     *
     * @param name of the store, in log lines and messages
     */
    protected RemoteStoreBuilder(String name) {
        this.name = name;
    }

    @SuppressWarnings("unchecked") // what extends this class is B
    private B self() {
        return (B) this;
    }

    /**
     * Limits the time of a decision, including connecting.
     *
     * @param deadline above zero; 50 ms by default
     * @return this builder
     * @throws IllegalArgumentException if {@code deadline} is not positive
     */
    @CanIgnoreReturnValue
    public B deadline(Duration deadline) {
        this.deadline = positive("deadline", deadline);
        return self();
    }

    /**
     * Limits the requests in flight to one server; further ones fail immediately.
     *
     * @param maxInFlight at least 1; 256 by default
     * @return this builder
     * @throws IllegalArgumentException if {@code maxInFlight} is less than 1
     */
    @CanIgnoreReturnValue
    public B maxInFlight(int maxInFlight) {
        this.maxInFlight = inRange("max-in-flight", maxInFlight, Integer.MAX_VALUE);
        return self();
    }

    /**
     * Sets how many of the last 20 requests to a server must fail before the store stops using it.
     *
     * @param failures from 1 to 20; 10 by default
     * @return this builder
     * @throws IllegalArgumentException if {@code failures} is out of range
     */
    @CanIgnoreReturnValue
    public B failures(int failures) {
        this.failures = inRange("failures", failures, Breaker.WINDOW);
        return self();
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
    public B openFor(Duration openFor) {
        this.openFor = positive("open-for", openFor);
        return self();
    }

    /**
     * Sets what applies to policies while servers do not answer, unless they have a choice of their own.
     *
     * @param choice {@link OnStoreFailure#LOCAL} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B onStoreFailure(OnStoreFailure choice) {
        this.otherwise = choice;
        return self();
    }

    /**
     * Sets what applies to one policy while servers do not answer.
     *
     * @param policy its name
     * @param choice instead of that for all policies
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B onStoreFailure(String policy, OnStoreFailure choice) {
        onFailure.put(policy, choice);
        return self();
    }

    /**
     * Sets the share of each limit that this instance enforces while it decides alone.
     *
     * @param localShare above 0, at most 1, the default; for {@code n} instances, {@code 1.0 / n} keeps the limit
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B localShare(double localShare) {
        this.localShare = localShare;
        return self();
    }

    /**
     * Sets for how long a key refused by a server is refused without asking again; never longer than its wait.
     *
     * @param denyCache zero or more; with zero, servers are always asked; 1 s by default
     * @return this builder
     * @throws IllegalArgumentException if {@code denyCache} is negative
     */
    @CanIgnoreReturnValue
    public B denyCache(Duration denyCache) {
        if (denyCache.isNegative()) {
            throw new IllegalArgumentException("deny-cache must not be negative but was " + denyCache);
        }
        this.denyCache = denyCache;
        return self();
    }

    /**
     * Sets the clock that this instance uses for waits and for local decisions.
     *
     * @param ticker the system's by default; decisions by servers use the server's clock
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B ticker(Ticker ticker) {
        this.ticker = ticker;
        return self();
    }

    /**
     * Sets the scheduler of timeouts and sweeps, in which threads wait for servers.
     *
     * @param scheduler {@linkplain Scheduler#of that of the ticker} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B scheduler(Scheduler scheduler) {
        this.scheduler = scheduler;
        return self();
    }

    /**
     * Sets what runs dependents of {@link RemoteStore#decideAsync}, {@code peekAsync} and {@code refundAsync} that have to
     * wait for an answer. If all of them are short and never block, such as those that hand over to an event loop, {@code
     * Runnable::run} saves a change of threads: they then run on the client's threads and on the scheduler's.
     *
     * @param executor {@link Scheduler#blockingExecutor} of the scheduler by default; what it rejects runs on {@link
     *     Scheduler#executor}
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B executor(Executor executor) {
        this.executor = executor;
        return self();
    }

    /**
     * Sets the listener that is notified of failures.
     *
     * @param listener replaces a previous one; none by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public B listener(RemoteStoreListener listener) {
        this.listener = new GuardedListener(listener, name);
        return self();
    }

    /**
     * Sets the source of what instances do not do at the same time: intervals between probes, for example.
     *
     * @param random threads' own random numbers by default
     */
    protected final void spread(RandomGenerator random) {
        this.random = random;
    }

    /** {@return the present settings} */
    protected final RemoteStoreSettings remoteSettings() {
        return new RemoteStoreSettings(this);
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

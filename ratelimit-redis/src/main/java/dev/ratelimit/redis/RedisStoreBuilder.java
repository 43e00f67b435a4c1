package dev.ratelimit.redis;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link RedisStore}. Not thread-safe. */
public final class RedisStoreBuilder {

    private static final int KNOWN_KEYS = 1 << 17;

    private final Link.Connector connector;
    private final Map<String, OnStoreFailure> onFailure = new HashMap<>();
    private OnStoreFailure otherwise = OnStoreFailure.LOCAL;
    private Ticker ticker = Ticker.system();
    private RedisStore.Listener listener = new RedisStore.Listener() {};
    private String prefix = "ratelimit";
    private Duration deadline = Duration.ofMillis(50);
    private int maxInFlight = 256;
    private int failures = Breaker.WINDOW / 2;
    private Duration openFor = Duration.ofSeconds(1);
    private double localShare = 1;
    private Duration denyCache = Duration.ofSeconds(1);
    private double leaseFraction;
    private Duration leaseMaxAge = Duration.ofSeconds(1);
    private UnaryOperator<Script> edition = script -> script;

    RedisStoreBuilder(Link.Connector connector) {
        this.connector = connector;
    }

    /** What keys in Redis begin with, {@code ratelimit} by default: 1 to 32 letters, digits, dots, hyphens, colons. */
    public RedisStoreBuilder prefix(String begin) {
        this.prefix = begin;
        return this;
    }

    /** How long a decision may take in all, connecting included; 50 ms by default. */
    public RedisStoreBuilder deadline(Duration longest) {
        this.deadline = positive("deadline", longest);
        return this;
    }

    /** How many commands may wait for an answer at once, 256 by default; what comes on top fails at once. */
    public RedisStoreBuilder maxInFlight(int most) {
        this.maxInFlight = inRange("max-in-flight", most, Integer.MAX_VALUE);
        return this;
    }

    /** How many of the last 20 requests to a server must fail until it is left alone; 1 to 20, by default 10. */
    public RedisStoreBuilder failures(int ofTheLast20) {
        this.failures = inRange("failures", ofTheLast20, Breaker.WINDOW);
        return this;
    }

    /** For how long a server that fails is left alone before one request tries it again; 1 s by default, give or take. */
    public RedisStoreBuilder openFor(Duration time) {
        this.openFor = positive("open-for", time);
        return this;
    }

    /** What holds for policies while Redis does not answer, {@link OnStoreFailure#LOCAL} by default. */
    public RedisStoreBuilder onStoreFailure(OnStoreFailure choice) {
        this.otherwise = choice;
        return this;
    }

    /** What holds for this policy while Redis does not answer. */
    public RedisStoreBuilder onStoreFailure(String policy, OnStoreFailure choice) {
        onFailure.put(policy, choice);
        return this;
    }

    /** The share of each limit that this instance has while it decides alone; above 0, up to 1, which is the default. */
    public RedisStoreBuilder localShare(double share) {
        this.localShare = share;
        return this;
    }

    /**
     * For how long at most a key that Redis refused is refused without asking again; never longer than it has to wait.
     * 1 s by default, zero to ask each time.
     */
    public RedisStoreBuilder denyCache(Duration longest) {
        if (longest.isNegative()) {
            throw new IllegalArgumentException("deny-cache must not be negative but was " + longest);
        }
        this.denyCache = longest;
        return this;
    }

    /**
     * Lets this instance take leases: permits that are charged first and then spent here, without asking for each.
     * Together all instances never spend more than was charged, at a fraction of the round trips; but what was charged up
     * to {@code maxAge} ago may be spent now. Only keys that are asked for often get leases, and only of limits of 100 or
     * more.
     *
     * @param fraction of what is left to all that one lease takes at most; above 0, up to 1
     * @param maxAge how long a lease holds; what is not spent by then goes back
     */
    public RedisStoreBuilder leased(double fraction, Duration maxAge) {
        if (!(fraction > 0 && fraction <= 1)) {
            throw new IllegalArgumentException("lease.fraction must be above 0 and at most 1 but was " + fraction);
        }
        this.leaseFraction = fraction;
        this.leaseMaxAge = positive("lease.max-age", maxAge);
        return this;
    }

    /** The time by which this instance waits and decides alone; the system's by default. */
    public RedisStoreBuilder ticker(Ticker time) {
        this.ticker = time;
        return this;
    }

    /** Who is told what goes wrong. */
    public RedisStoreBuilder listener(RedisStore.Listener told) {
        this.listener = told;
        return this;
    }

    /** What is run instead of a script. */
    RedisStoreBuilder edition(UnaryOperator<Script> other) {
        this.edition = other;
        return this;
    }

    /** A new store, which connects when it is first asked. */
    public RedisStore build() {
        Journal journal = new Journal(listener, openFor);
        Link link = new Link(connector, journal::connected);
        Runner runner = new Runner(link, ticker, maxInFlight, edition);
        Recent recent = new Recent(ticker, KNOWN_KEYS, denyCache.toNanos());
        Fallback fallback = new Fallback(
                InMemoryStore.builder().ticker(ticker).build(),
                new LocalLimits(localShare),
                recent,
                onFailure,
                otherwise,
                openFor);
        Servers servers = new Servers(
                link,
                new KeyNames(prefix),
                name -> new Node(new Breaker(ticker, failures, openFor.toNanos()), runner, link, journal::changed));
        return new RedisStore(servers, fallback, recent, this);
    }

    Ticker ticker() {
        return ticker;
    }

    RedisStore.Listener listener() {
        return listener;
    }

    Duration deadline() {
        return deadline;
    }

    @Nullable
    Leases leases(Leases.Bank bank) {
        return leaseFraction == 0 ? null : new Leases(bank, ticker, leaseFraction, leaseMaxAge.toNanos());
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " must be more than zero but was " + value);
        }
        return value;
    }

    private static int inRange(String name, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(name + " must be from 1 to " + most + " but was " + value);
        }
        return value;
    }
}

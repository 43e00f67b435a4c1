package dev.ratelimit.client;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The limits of calls that go out: an application's own policies, and what the called servers say about theirs. Clients
 * that share it, by a {@link RateLimitInterceptor} or a {@link RateLimitExchangeFilter}, share its budgets. Thread-safe;
 * one per application is enough.
 *
 * <p>Before a call is sent, all its policies must admit it, at one moment: all of them are charged, or none. The call
 * waits for that, at most {@link Builder#maxWait}; if the permits would come too late, it fails at once with a
 * {@link CallNotSentException}. A policy of {@linkplain Policy#concurrency concurrency} holds its permit until the
 * response is complete.
 *
 * <p>After a response, calls of the same key are held back as the server asks: by {@code Retry-After} of a refusal, or
 * until the reset if its {@code RateLimit} or {@code X-RateLimit} fields say that nothing is left; and no more calls are
 * under way at once than they say is left. Nothing is sent again: that is for a retry around the client.
 */
public final class ClientLimits {

    /** The name of the policy by which servers' own limits are kept in the store. */
    public static final String SERVER = "outgoing/server";

    /** How soon to ask again whether a call under way has been answered. */
    private static final long POLL_NANOS = 200_000_000L;

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Executor executor;
    private final List<Rule> rules;
    private final RequestKey serverKey;
    private final Duration maxWait;
    private final Duration maxObeyed;
    private final long jitterNanos;
    private final Pauses pauses;
    private final InFlight inFlight;

    /** The keys of the servers to which the thread has calls under way, while it sends others for them. */
    private final ThreadLocal<Set<String>> around = ThreadLocal.withInitial(Set::of);

    private record Rule(Policy policy, RequestKey key) {}

    private ClientLimits(Builder builder) {
        this.store = builder.store == null
                ? InMemoryStore.builder().ticker(builder.ticker).build()
                : builder.store;
        this.ticker = builder.ticker;
        this.scheduler = Scheduler.of(builder.ticker);
        this.executor = builder.executor;
        this.rules = List.copyOf(builder.rules);
        this.serverKey = builder.serverKey;
        this.maxWait = builder.maxWait;
        this.maxObeyed = builder.maxObeyed;
        this.jitterNanos = builder.jitter.toNanos();
        this.pauses = new Pauses(store, SERVER, builder.maxObeyed);
        this.inFlight = new InFlight(ticker);
    }

    /** {@return a builder; without policies, calls only obey what servers say} */
    public static Builder builder() {
        return new Builder();
    }

    Call call(OutgoingRequest request, Set<String> around) {
        return new Call(this, request, serverKey.of(request), around, ticker.nanos() + maxWait.toNanos());
    }

    List<Charge> charges(OutgoingRequest request, @Nullable String server) {
        List<Charge> charges = new ArrayList<>(rules.size() + 1);
        for (Rule rule : rules) {
            String key = rule.key.of(request);
            if (key != null) {
                charges.add(rule.policy.charge(key));
            }
        }
        if (server != null) {
            charges.add(pauses.question(server));
        }
        return charges;
    }

    RateLimitStore store() {
        return store;
    }

    Ticker ticker() {
        return ticker;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /** For calls of the store that nobody waits for. */
    Executor executor() {
        return executor;
    }

    Pauses pauses() {
        return pauses;
    }

    InFlight inFlight() {
        return inFlight;
    }

    /** {@return the keys of the servers to which the current thread has calls under way} */
    Set<String> around() {
        return around.get();
    }

    void around(Set<String> servers) {
        if (servers.isEmpty()) {
            around.remove();
        } else {
            around.set(servers);
        }
    }

    /** Bounds the calls under way until the server admits more; after a pause, until one of them can have an answer. */
    void bound(String server, ServerFields fields, long sentNanos) {
        long pause = fields.pauseSeconds();
        long seconds = pause > 0 ? pause : Math.max(1, fields.resetSeconds());
        long obeyed = TimeUnit.SECONDS.toNanos(Math.min(seconds, maxObeyed.toSeconds()));
        long answer = pause > 0 ? TimeUnit.SECONDS.toNanos(1) + jitterNanos : 0;
        inFlight.bound(server, pause > 0 ? 0 : fields.remaining(), obeyed + answer, sentNanos);
    }

    Duration maxWait() {
        return maxWait;
    }

    /** A random time, so that those who wait for the same moment do not all come at once. */
    long jitter() {
        return random(jitterNanos);
    }

    /** When to ask again whether another call has been answered. */
    static long poll() {
        return 1 + random(POLL_NANOS);
    }

    private static long random(long bound) {
        return bound == 0 ? 0 : ThreadLocalRandom.current().nextLong(bound);
    }

    /** Collects the settings of {@link ClientLimits}. Not thread-safe. */
    public static final class Builder {

        private static final Duration MAX = Duration.ofDays(365);

        private final List<Rule> rules = new ArrayList<>();
        private @Nullable RateLimitStore store;
        private Ticker ticker = Ticker.system();
        private Executor executor = Runnable::run;
        private RequestKey serverKey = RequestKey.host();
        private Duration maxWait = Duration.ofSeconds(10);
        private Duration maxObeyed = Duration.ofHours(1);
        private Duration jitter = Duration.ofSeconds(1);

        private Builder() {}

        /**
         * Limits the calls to each host.
         *
         * @param policy of a name that no other policy here has
         * @return this builder
         * @throws IllegalArgumentException if there is a policy of this name
         */
        public Builder policy(Policy policy) {
            return policy(policy, RequestKey.host());
        }

        /**
         * Limits the calls of each key.
         *
         * @param policy of a name that no other policy here has
         * @param key whose budget a call is charged to; {@code null} for calls that the policy does not concern
         * @return this builder
         * @throws IllegalArgumentException if there is a policy of this name
         */
        public Builder policy(Policy policy, RequestKey key) {
            if (policy.name().equals(SERVER)
                    || rules.stream().anyMatch(rule -> rule.policy.name().equals(policy.name()))) {
                throw new IllegalArgumentException(
                        "there is a policy '" + policy.name() + "' already; give this one another name");
            }
            rules.add(new Rule(policy, key));
            return this;
        }

        /**
         * Whose calls are held back when a server asks for it; by default, all to the same host.
         *
         * @param key such as {@link RequestKey#credential()} if the server counts by it; {@code null} for calls whose
         *     answers are not obeyed
         * @return this builder
         */
        public Builder obeyBy(RequestKey key) {
            this.serverKey = key;
            return this;
        }

        /**
         * How long a call waits at most; by default, 10 seconds.
         *
         * @param maxWait from zero, which does not wait, to 365 days
         * @return this builder
         * @throws IllegalArgumentException if {@code maxWait} is out of range
         */
        public Builder maxWait(Duration maxWait) {
            this.maxWait = checked("maxWait", maxWait, Duration.ZERO);
            return this;
        }

        /**
         * How long a server can hold calls back at most; by default, one hour. What servers ask for beyond that is cut.
         *
         * @param maxObeyed from one second to 365 days
         * @return this builder
         * @throws IllegalArgumentException if {@code maxObeyed} is out of range
         */
        public Builder maxObeyed(Duration maxObeyed) {
            this.maxObeyed = checked("maxObeyed", maxObeyed, Duration.ofSeconds(1));
            return this;
        }

        /**
         * The random time that each call waits in addition after a server has held calls back; by default, up to one
         * second. Never longer than {@link #maxWait} leaves.
         *
         * @param jitter the maximum, from zero to 365 days
         * @return this builder
         * @throws IllegalArgumentException if {@code jitter} is out of range
         */
        public Builder jitter(Duration jitter) {
            this.jitter = checked("jitter", jitter, Duration.ZERO);
            return this;
        }

        /**
         * Where budgets are kept; by default, in the memory of this JVM. Instances with the same store on a server share
         * their policies and what servers have said. The store is not closed.
         *
         * @param store any store; give one across a network an {@link #executor}, too, if it is used by a
         *     {@code WebClient}
         * @return this builder
         */
        public Builder store(RateLimitStore store) {
            this.store = store;
            return this;
        }

        /**
         * Where a {@link RateLimitExchangeFilter} asks the store; by default, on the subscribing thread, which is right
         * for a store in memory.
         *
         * @param executor whose threads may block
         * @return this builder
         */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /**
         * The clock; by default, the system's. For tests.
         *
         * @param ticker of waits, and of the default store
         * @return this builder
         */
        public Builder ticker(Ticker ticker) {
            this.ticker = ticker;
            return this;
        }

        /** {@return limits with these settings} */
        public ClientLimits build() {
            return new ClientLimits(this);
        }

        private static Duration checked(String name, Duration value, Duration min) {
            if (value.compareTo(min) < 0 || value.compareTo(MAX) > 0) {
                throw new IllegalArgumentException(name + " must be from " + min + " to " + MAX + " but was " + value);
            }
            return value;
        }
    }
}

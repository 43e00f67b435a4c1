package dev.ratelimit.spring.rules.config;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.address.ForwardedHeader;
import dev.ratelimit.spring.rules.field.LegacyFields;
import dev.ratelimit.spring.rules.field.RateLimitDraft;
import dev.ratelimit.spring.rules.refusal.RejectionBody;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Tokens;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code ratelimit}. A property that is not listed here stops the start.
 *
 * @param enabled Whether anything is limited.
 * @param policies The policies by name; a request is charged to all policies that apply to it or to none.
 * @param trustedProxies The addresses and networks of proxies whose Forwarded and X-Forwarded-For headers are trusted.
 * @param forwardedHeader Which of the two headers the proxies write.
 * @param ipv4Prefix How many bits of an IPv4 address identify a client, from 8 to 32.
 * @param ipv6Prefix How many bits of an IPv6 address identify a client, from 32 to 128.
 * @param ignoreCase Whether user names and other values of keys are compared without regard to case.
 * @param exempt Which requests are never charged.
 * @param headers Which response headers show callers their budgets.
 * @param exposeShared Whether the headers include budgets that do not belong to the caller alone.
 * @param retryAfterMillisHeader A response header for the wait in milliseconds, such as X-RetryAfterMs, in addition to
 *     Retry-After.
 * @param response The response to refused requests.
 * @param store Where budgets are kept.
 * @param events Which application events are published beside those of changes.
 * @param metrics Which metrics there are beside those that are always there.
 * @param recording Whether requests are recorded, to try other limits out on them.
 */
@ConfigurationProperties(prefix = "ratelimit", ignoreUnknownFields = false)
public record RateLimitProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue Map<String, PolicyProperties> policies,
        @DefaultValue List<String> trustedProxies,
        @DefaultValue("any") ForwardedHeader forwardedHeader,
        @DefaultValue("32") int ipv4Prefix,
        @DefaultValue("64") int ipv6Prefix,
        @DefaultValue("false") boolean ignoreCase,
        @DefaultValue Exempt exempt,
        @DefaultValue("draft") Headers headers,
        @DefaultValue("false") boolean exposeShared,
        @Nullable String retryAfterMillisHeader,
        @DefaultValue Response response,
        @DefaultValue Store store,
        @DefaultValue Events events,
        @DefaultValue Metrics metrics,
        @DefaultValue Recording recording) {

    /** Validates the prefixes, the name of the header and the numbers of keys. */
    public RateLimitProperties {
        checkPrefix("ratelimit.ipv4-prefix", ipv4Prefix, 8, 32);
        checkPrefix("ratelimit.ipv6-prefix", ipv6Prefix, 32, 128);
        policies.forEach((name, policy) -> checkMaxKeys(name, policy.maxKeys()));
        if (retryAfterMillisHeader != null && !Tokens.isToken(retryAfterMillisHeader)) {
            throw new RateLimitConfigurationException(
                    "ratelimit.retry-after-millis-header",
                    retryAfterMillisHeader,
                    "a header name has letters, digits and hyphens only; write X-RetryAfterMs");
        }
    }

    /** The same properties with other policies. */
    public RateLimitProperties withPolicies(Map<String, PolicyProperties> others) {
        return new RateLimitProperties(
                enabled,
                others,
                trustedProxies,
                forwardedHeader,
                ipv4Prefix,
                ipv6Prefix,
                ignoreCase,
                exempt,
                headers,
                exposeShared,
                retryAfterMillisHeader,
                response,
                store,
                events,
                metrics,
                recording);
    }

    /**
     * Checks that policies can change to others while the application runs.
     *
     * @throws RateLimitConfigurationException at the first property that is fixed at the start
     */
    public void checkChangeable(RateLimitProperties next) {
        next.policies.forEach((name, policy) -> {
            PolicyProperties before = policies.get(name);
            checkFixed(
                    name,
                    "max-keys",
                    before == null ? InMemoryStore.DEFAULT_MAX_KEYS : before.maxKeys(),
                    policy.maxKeys());
            checkFixed(
                    name,
                    "on-store-failure",
                    before == null ? OnStoreFailure.LOCAL : before.onStoreFailure(),
                    policy.onStoreFailure());
            PolicyProperties.OnExceeded onExceeded =
                    before == null ? PolicyProperties.OnExceeded.DEFAULT : before.onExceeded();
            if (!policy.onExceeded().isLike(onExceeded)) {
                throw fixed(
                        name, "on-exceeded", PropertyName.of(policy.onExceeded().action()));
            }
            if (!dependOnStatus() && !(policy.count().isEmpty() && policy.free().isEmpty())) {
                throw fixed(
                        name,
                        policy.free().isEmpty() ? "count" : "free",
                        "the first policy that charges only some responses");
            }
        });
    }

    /** The properties, apart from policies, that differ, and that are not read again while the application runs. */
    public List<String> fixedThatDiffer(RateLimitProperties next) {
        Map<String, Function<RateLimitProperties, @Nullable Object>> fixed = new LinkedHashMap<>();
        fixed.put("enabled", RateLimitProperties::enabled);
        fixed.put("trusted-proxies", RateLimitProperties::trustedProxies);
        fixed.put("forwarded-header", RateLimitProperties::forwardedHeader);
        fixed.put("ipv4-prefix", RateLimitProperties::ipv4Prefix);
        fixed.put("ipv6-prefix", RateLimitProperties::ipv6Prefix);
        fixed.put("ignore-case", RateLimitProperties::ignoreCase);
        fixed.put("exempt", RateLimitProperties::exempt);
        fixed.put("headers", RateLimitProperties::headers);
        fixed.put("expose-shared", RateLimitProperties::exposeShared);
        fixed.put("retry-after-millis-header", RateLimitProperties::retryAfterMillisHeader);
        fixed.put("response", RateLimitProperties::response);
        fixed.put("store", RateLimitProperties::store);
        fixed.put("events", RateLimitProperties::events);
        fixed.put("metrics", RateLimitProperties::metrics);
        fixed.put("recording", RateLimitProperties::recording);
        fixed.values().removeIf(value -> Objects.equals(value.apply(this), value.apply(next)));
        return fixed.keySet().stream().map(name -> "ratelimit." + name).toList();
    }

    private static void checkFixed(String policy, String property, Object before, Object next) {
        if (!before.equals(next)) {
            throw fixed(policy, property, next.toString());
        }
    }

    private static RateLimitConfigurationException fixed(String policy, String property, String written) {
        return new RateLimitConfigurationException(
                "ratelimit.policies." + policy + "." + property,
                written,
                property + " cannot be changed while the application runs; restart it");
    }

    private static void checkMaxKeys(String policy, int maxKeys) {
        if (maxKeys < 1) {
            throw new RateLimitConfigurationException(
                    "ratelimit.policies." + policy + ".max-keys",
                    Integer.toString(maxKeys),
                    "max-keys must be at least 1 but was " + maxKeys + "; write 1000000");
        }
    }

    /** The maximum number of keys that a store in memory keeps, by policy. */
    public Map<String, Integer> maxKeys() {
        return byPolicy(PolicyProperties::maxKeys);
    }

    /** What happens while a store on another machine does not answer, by policy. */
    public Map<String, OnStoreFailure> onStoreFailure() {
        return byPolicy(PolicyProperties::onStoreFailure);
    }

    private <T> Map<String, T> byPolicy(Function<PolicyProperties, T> setting) {
        Map<String, T> byPolicy = new HashMap<>();
        policies.forEach((name, policy) -> {
            byPolicy.put(name, setting.apply(policy));
            if (policy.concurrency() != null) {
                byPolicy.put(Rule.concurrencyOf(name), setting.apply(policy));
            }
        });
        return byPolicy;
    }

    /** Whether a policy charges only some responses. */
    public boolean dependOnStatus() {
        return policies.values().stream()
                .anyMatch(policy -> !policy.count().isEmpty() || !policy.free().isEmpty());
    }

    private static void checkPrefix(String property, int bits, int min, int max) {
        if (bits < min || bits > max) {
            throw new RateLimitConfigurationException(
                    property,
                    Integer.toString(bits),
                    "must be from " + min + " to " + max + " bits but was " + bits + "; write " + max);
        }
    }

    /**
     * Which requests are never charged.
     *
     * @param addresses The addresses and networks whose requests are never charged.
     * @param paths Patterns of paths, matched exactly as written, to which requests are never charged.
     * @param keys Values of keys whose requests are never charged, under the policies with such a key.
     * @param when An expression; requests for which it is true are never charged.
     * @param management Whether Spring Boot's management endpoints are charged only under policies whose match.paths
     *     name them.
     */
    public record Exempt(
            @DefaultValue List<String> addresses,
            @DefaultValue List<String> paths,
            @DefaultValue List<String> keys,
            @Nullable String when,
            @DefaultValue("true") boolean management) {}

    /** Which response headers are sent. */
    public enum Headers {
        /** RateLimit and RateLimit-Policy of the newest IETF draft that this version knows. */
        DRAFT(RateLimitDraft.NEWEST, null),
        /** RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-10. */
        DRAFT_10(RateLimitDraft.DRAFT_10, null),
        /** X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, in seconds. */
        LEGACY(null, LegacyFields.X_RATE_LIMIT),
        /** Those of the newest draft, and the legacy ones. */
        BOTH(RateLimitDraft.NEWEST, LegacyFields.X_RATE_LIMIT),
        /** No headers. */
        NONE(null, null);

        private final @Nullable RateLimitDraft draft;
        private final @Nullable LegacyFields legacy;

        Headers(@Nullable RateLimitDraft draft, @Nullable LegacyFields legacy) {
            this.draft = draft;
            this.legacy = legacy;
        }

        /** How the fields of a draft are written; {@code null} if they are not sent. */
        public @Nullable RateLimitDraft draft() {
            return draft;
        }

        /** The fields of plain numbers; {@code null} if they are not sent. */
        public @Nullable LegacyFields legacy() {
            return legacy;
        }
    }

    /**
     * The response to refused requests.
     *
     * @param status The status of a refusal, from 400 to 599; by default, 429.
     * @param body The kind of body that a refusal has; by default, problem.
     * @param detail The text in the body; by default, which limit is exceeded and when to retry.
     * @param content The whole body, in place of body and detail; {retry-after} and {policies} stand for the wait in seconds
     *     and the names of the policies that refuse.
     * @param contentType The type of the content; by default, application/json if it begins with a brace or a bracket,
     *     and text/plain otherwise.
     */
    public record Response(
            @Nullable Integer status,
            @Nullable RejectionBody body,
            @Nullable String detail,
            @Nullable String content,
            @Nullable String contentType) {}

    /**
     * Which application events are published. Those of changes and of the store's outages always are.
     *
     * @param refusals Whether each refusal is an event, up to a maximum per second.
     * @param maxPerSecond How many refusals of each policy are events in a second; the next event says how many were
     *     left out.
     */
    public record Events(
            @DefaultValue("false") boolean refusals,
            @DefaultValue("10") int maxPerSecond) {

        /** Validates the maximum. */
        public Events {
            if (maxPerSecond < 1) {
                throw new RateLimitConfigurationException(
                        "ratelimit.events.max-per-second",
                        Integer.toString(maxPerSecond),
                        "max-per-second must be at least 1 but was " + maxPerSecond
                                + "; write 10, or ratelimit.events.refusals: false for no events");
            }
        }
    }

    /**
     * Metrics that cost something.
     *
     * @param endpoints Whether requests are also counted by endpoint; each request is then looked up.
     * @param maxEndpoints How many endpoints are counted separately; all others are counted as one.
     */
    public record Metrics(
            @DefaultValue("false") boolean endpoints,
            @DefaultValue("100") int maxEndpoints) {

        /** Validates the maximum. */
        public Metrics {
            if (maxEndpoints < 1) {
                throw new RateLimitConfigurationException(
                        "ratelimit.metrics.max-endpoints",
                        Integer.toString(maxEndpoints),
                        "max-endpoints must be at least 1 but was " + maxEndpoints
                                + "; write 100, or ratelimit.metrics.endpoints: false for no such metrics");
            }
        }
    }

    /**
     * What the actuator hands out for a replay in the simulator.
     *
     * @param enabled Whether requests are recorded; the endpoint of each request is then looked up.
     * @param maxRequests How many requests are kept, the latest ones, up to 10,000,000.
     * @param share The share of callers whose requests are recorded, above 0 and at most 1.
     */
    public record Recording(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("100000") int maxRequests,
            @DefaultValue("1.0") double share) {

        private static final int MAX_REQUESTS = 10_000_000;

        /** Validates the ranges. */
        public Recording {
            if (maxRequests < 1 || maxRequests > MAX_REQUESTS) {
                throw new RateLimitConfigurationException(
                        "ratelimit.recording.max-requests",
                        Integer.toString(maxRequests),
                        "max-requests must be from 1 to " + MAX_REQUESTS + " but was " + maxRequests
                                + "; write 100000, or ratelimit.recording.enabled: false to record nothing");
            }
            if (!(share > 0 && share <= 1)) {
                throw new RateLimitConfigurationException(
                        "ratelimit.recording.share",
                        Double.toString(share),
                        "share must be above 0 and at most 1 but was " + share + "; write 1.0 for all callers, or 0.1");
            }
        }
    }

    /**
     * Where budgets are kept.
     *
     * @param type Either memory, in each instance separately, or redis or jdbc, for all instances together.
     * @param redis The store on Redis or Valkey; its connection is configured under spring.data.redis.
     * @param jdbc The store in a database; its connections are configured under spring.datasource.
     */
    public record Store(
            @DefaultValue("memory") Type type,
            @DefaultValue Redis redis,
            @DefaultValue Jdbc jdbc) {

        /** Validates what all stores have. */
        public Store {
            new StoreSettings("redis").check(redis);
            new StoreSettings("jdbc").check(jdbc);
        }

        /** The types of stores. */
        public enum Type {
            /** In the memory of each instance. */
            MEMORY,
            /** In Redis or Valkey, for all instances together. */
            REDIS,
            /** In a database, for all instances together. */
            JDBC
        }

        /** The settings of the store that is used, unless it is memory. */
        public @Nullable Remote remote() {
            return switch (type) {
                case MEMORY -> null;
                case REDIS -> redis;
                case JDBC -> jdbc;
            };
        }
    }

    /** What stores on other servers have in common. */
    public sealed interface Remote {

        /** Who decides about requests. */
        enum Mode {
            /** The store decides about each request. */
            EXACT,
            /** This instance decides while it holds leased permits; only for keys with frequent requests. */
            LEASED
        }

        /** What decides, at the beginning of a sentence. */
        String title();

        /** The maximum time of a decision. */
        Duration deadline();

        /** How many decisions may wait at once. */
        int maxInFlight();

        /** How many of the last 20 requests must fail. */
        int failures();

        /** How long a failing server is not used. */
        Duration openFor();

        /** The share of each limit while this instance decides alone. */
        double localShare();

        /** How long at most a refused key is refused without asking again. */
        Duration denyCache();

        /** Who decides. */
        Mode mode();

        /** The settings of leases. */
        Lease lease();
    }

    /**
     * Leases, in mode leased.
     *
     * @param fraction The maximum share of the remaining permits in one lease; below 1/(4 * instances).
     * @param maxAge When the unspent permits of a lease are back; for three quarters of this time, they are spent.
     */
    public record Lease(
            @DefaultValue("0.05") double fraction,
            @DefaultValue("1s") Duration maxAge) {}

    /**
     * The store on Redis or Valkey.
     *
     * @param deadline The maximum time of a decision, including connecting.
     * @param maxInFlight How many decisions may wait for an answer of one server at once; further requests are
     *     decided without Redis.
     * @param failures How many of the last 20 requests to a server must fail before the store stops using it.
     * @param openFor How long the store does not use a failing server before one request tries it again.
     * @param localShare The share of each limit that this instance has while it decides alone; 1/instances keeps the
     *     limit.
     * @param denyCache How long at most a refused key is refused without asking Redis again; 0 always asks.
     * @param prefix The prefix of keys in Redis; applications with the same prefix share budgets.
     * @param mode Either exact, to ask Redis for each request, or leased, to spend permits that were charged in advance.
     * @param lease The settings of leases.
     */
    public record Redis(
            @DefaultValue("50ms") Duration deadline,
            @DefaultValue("256") int maxInFlight,
            @DefaultValue("10") int failures,
            @DefaultValue("1s") Duration openFor,
            @DefaultValue("1.0") double localShare,
            @DefaultValue("1s") Duration denyCache,
            @DefaultValue("ratelimit") String prefix,
            @DefaultValue("exact") Mode mode,
            @DefaultValue Lease lease)
            implements Remote {

        /** Validates the ranges. */
        public Redis {
            StoreSettings settings = new StoreSettings("redis");
            settings.check(
                    "prefix",
                    prefix,
                    prefix.matches("[A-Za-z0-9._:-]{1,32}"),
                    "must be 1 to 32 letters, digits, dots, hyphens, underscores and colons; write ratelimit");
        }

        @Override
        public String title() {
            return "Redis";
        }
    }

    /**
     * The store in a database.
     *
     * @param deadline The maximum time of a decision, including the wait for a connection.
     * @param maxInFlight How many decisions may wait for the database at once; further requests are decided without it.
     * @param failures How many of the last 20 requests to the database must fail before the store stops using it.
     * @param openFor How long the store does not use a failing database before it tries it again.
     * @param localShare The share of each limit that this instance has while it decides alone; 1/instances keeps the
     *     limit.
     * @param denyCache How long at most a refused key is refused without asking the database again; 0 always asks.
     * @param table The table of budgets, perhaps after a schema and a dot; applications with the same table share budgets.
     * @param initializeSchema Whether the tables are created at the start, as in spring.session.jdbc.initialize-schema:
     *     embedded, always or never.
     * @param maxConnections How many connections the store uses at once; one transaction decides for all who wait.
     * @param cleanUpInterval How often rows of full budgets are removed.
     * @param mode Either exact, to ask the database for each request, or leased, to spend permits that were charged in
     *     advance.
     * @param lease The settings of leases.
     */
    public record Jdbc(
            @DefaultValue("250ms") Duration deadline,
            @DefaultValue("256") int maxInFlight,
            @DefaultValue("10") int failures,
            @DefaultValue("1s") Duration openFor,
            @DefaultValue("1.0") double localShare,
            @DefaultValue("1s") Duration denyCache,
            @DefaultValue("ratelimit") String table,
            @DefaultValue("embedded") InitializeSchema initializeSchema,
            @DefaultValue("2") int maxConnections,
            @DefaultValue("1m") Duration cleanUpInterval,
            @DefaultValue("exact") Mode mode,
            @DefaultValue Lease lease)
            implements Remote {

        /** When the tables are created. */
        public enum InitializeSchema {
            /** At each start, unless they are there. */
            ALWAYS,
            /** Only in an embedded database, such as H2 in memory. */
            EMBEDDED,
            /** By somebody else. */
            NEVER
        }

        /** Validates the ranges. */
        public Jdbc {
            StoreSettings settings = new StoreSettings("jdbc");
            settings.check(
                    "table",
                    table,
                    table.matches("([A-Za-z_][A-Za-z0-9_]{0,50}\\.)?[A-Za-z_][A-Za-z0-9_]{0,50}"),
                    "must be up to 51 letters, digits and underscores, perhaps after a schema and a dot; write ratelimit");
            settings.check(
                    "max-connections",
                    maxConnections,
                    maxConnections >= 1 && maxConnections <= 64,
                    "must be from 1 to 64; write 2");
            settings.check(
                    "clean-up-interval",
                    cleanUpInterval,
                    StoreSettings.isTime(cleanUpInterval),
                    "must be above 0 and at most 1h; write 1m");
        }

        @Override
        public String title() {
            return "the database";
        }
    }
}

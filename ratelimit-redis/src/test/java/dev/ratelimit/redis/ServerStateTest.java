package dev.ratelimit.redis;

import static dev.ratelimit.redis.Scene.WIDE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that answers, but with an error. */
@Tag("servers")
class ServerStateTest {

    private static final Duration PATIENT = Duration.ofSeconds(5);
    private static final Policy NARROW = Policy.of("narrow", TokenBucket.of(Rate.parse("1/hour")));

    private static final Policy TWO_LIMITS =
            Policy.of("two", TokenBucket.of(Rate.parse("100/day")), FixedWindow.of(Rate.parse("100/hour")));

    @Started
    private static RedisServer server;

    @BeforeEach
    void forgetAll() {
        redis().flushall();
    }

    private static RedisCommands<String, String> redis() {
        return server.commands();
    }

    private static Scene patient() {
        return new Scene(server.uri(), settings -> settings.deadline(PATIENT)).connected();
    }

    private static long calls(String command) {
        Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(redis().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Test
    @DisplayName("E9: SCRIPT FLUSH under traffic: no request fails, and the script is sent again once")
    void scriptFlush_underTraffic_isLoadedAgain() {
        try (Scene scene = patient();
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(20);
            long before = calls("eval");

            redis().scriptFlush();
            traffic.awaitRedis(40);

            assertThat(scene.events.failures()).isZero();
            // once for each request in flight at that time
            assertThat(calls("eval") - before).isBetween(1L, (long) Traffic.THREADS);
            assertThat(traffic.here()).isZero();
        }
    }

    @Test
    @DisplayName("E10: no memory left: reason oom, the policy's choice, no partial write, and recovery")
    void memoryFull_noEviction_writesNothing() {
        try (Scene scene = patient()) {
            scene.store.decide(List.of(TWO_LIMITS.charge("old", 3)));
            Map<String, String> before = state();
            redis().configSet("maxmemory", "1");

            for (int i = 0; i < 12; i++) {
                assertThat(scene.store
                                .decide(List.of(TWO_LIMITS.charge("old"), TWO_LIMITS.charge("new" + i)))
                                .admitted())
                        .isTrue();
            }
            assertThat(state()).isEqualTo(before);
            assertThat(scene.events.failures(RedisStoreFailure.OOM)).isEqualTo(1);
            assertThat(scene.events.failures(RemoteStoreFailure.OPEN)).isEqualTo(11);
            assertThat(scene.events.warnings()).hasSize(1).allMatch(text -> text.contains("(oom: "));

            redis().configSet("maxmemory", "0");
            scene.awaitRedis();
            assertThat(Scene.byRedis(scene.decide(TWO_LIMITS, "old"))).isTrue();
        } finally {
            redis().configSet("maxmemory", "0");
        }
    }

    /** What reads succeeds: questions, and refusals. */
    @ParameterizedTest
    @CsvSource({"min-replicas-to-write, 1, 0, unwritable", "maxmemory, 1, 0, oom"})
    void server_thatReadsButCannotWrite_isIll(String setting, String ill, String well, String reason) {
        try (Scene scene = patient()) {
            scene.store.decide(List.of(NARROW.charge("full", 1)));
            assertThat(scene.decide(NARROW, "full").admitted()).isFalse();
            redis().configSet(setting, ill);

            int local = 0;
            for (int i = 0; i < 20; i++) {
                for (int j = 0; j < 9; j++) {
                    scene.store.peek(List.of(WIDE.charge("asked")));
                    scene.decide(NARROW, "full");
                }
                local += Scene.byRedis(scene.decide(WIDE, "charged")) ? 0 : 1;
            }

            assertThat(local).isEqualTo(20);
            assertThat(scene.store.available()).isFalse();
            assertThat(scene.events.warnings()).hasSize(1).allMatch(text -> text.contains("(" + reason + ": "));
            redis().configSet(setting, well);
            scene.awaitRedis();
            assertThat(scene.store.available()).isTrue();
        } finally {
            redis().configSet(setting, well);
        }
    }

    private static Map<String, String> state() {
        Map<String, String> state = new TreeMap<>();
        redis().keys("ratelimit:*").forEach(key -> state.put(key, redis().get(key)));
        return state;
    }

    @Test
    @DisplayName("E11: a server that may evict keys causes a warning, and does evict them")
    void eviction_allowed_isWarnedOfOnce() throws Exception {
        Policy one = Policy.of("one", TokenBucket.of(Rate.parse("1/day")));
        try (RedisServer small = RedisServer.start("--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru");
                Scene scene = new Scene(small.uri(), settings -> settings.deadline(PATIENT)).connected()) {
            Scene.awaitUntil(() -> scene.events.warnings().size() == 1);
            assertThat(scene.events.warnings())
                    .containsExactly("Redis at 127.0.0.1:" + small.port()
                            + " evicts keys when its memory is full (maxmemory-policy"
                            + " allkeys-lru), including the state of rate limits: a flood of new keys gives exhausted"
                            + " ones a full budget. Set maxmemory-policy noeviction, and use a separate Redis for rate"
                            + " limits.");

            for (int i = 0; i < 20; i++) {
                assertThat(scene.decide(one, "k" + i).admitted()).isTrue();
            }
            flood(small);
            int lost = 0;
            for (int i = 0; i < 20; i++) {
                lost += scene.decide(one, "k" + i).admitted() ? 1 : 0;
            }
            assertThat(lost).isPositive();
        }
    }

    private static void flood(RedisServer small) throws Exception {
        try (StatefulRedisConnection<String, String> other = small.newClient().connect()) {
            List<RedisFuture<String>> sent = new ArrayList<>();
            for (int i = 0; i < 8000; i++) {
                sent.add(other.async().set("flood" + i, "x".repeat(1000)));
            }
            sent.get(sent.size() - 1).get();
        }
    }

    @Test
    @DisplayName("E12: a key with a foreign value: only that key fails, and the breaker stays closed")
    void foreignValue_onOneKey_leavesOthersAlone() {
        KeyNames names = new KeyNames("ratelimit");
        redis().rpush(names.name("wide", "list") + 0, "x");
        redis().set(names.name("wide", "text") + 0, "something else");
        redis().set(names.name("wide", "future") + 0, "z;1;2;3;4");
        try (Scene scene = patient()) {
            for (int i = 0; i < 25; i++) {
                for (String key : List.of("list", "text", "future")) {
                    assertThat(scene.decide(WIDE, key).admitted()).isTrue();
                }
                assertThat(Scene.byRedis(scene.decide(WIDE, "own"))).isTrue();
            }

            assertThat(scene.events.failures(RedisStoreFailure.WRONG_TYPE)).isEqualTo(75);
            assertThat(scene.events.changes()).isZero();

            scene.store.reset(WIDE, "list");
            assertThat(Scene.byRedis(scene.decide(WIDE, "list"))).isTrue();
        }
    }

    @Test
    @DisplayName(
            "E12: a damaged value and too many limits at once: only that request fails, and the breaker stays closed")
    void scriptFails_onOneRequest_leavesOthersAlone() {
        Limit window = FixedWindow.of(Rate.parse("1000000/day"));
        Policy windows = Policy.of("windows", window);
        String notation = new String(RedisLimits.of(window).signature(), StandardCharsets.US_ASCII);
        redis().set(new KeyNames("ratelimit").name("windows", "damaged") + 0, notation + "short");
        List<Charge> many =
                IntStream.range(0, 8_100).mapToObj(i -> windows.charge("k" + i)).toList();
        try (Scene scene = patient()) {
            for (int i = 0; i < 12; i++) {
                assertThat(scene.decide(windows, "damaged").admitted()).isTrue();
                assertThat(scene.store.decide(many).admitted()).isTrue();
                assertThat(Scene.byRedis(scene.decide(windows, "own"))).isTrue();
            }

            assertThat(scene.events.failures(RedisStoreFailure.SCRIPT)).isEqualTo(24);
            assertThat(scene.events.changes()).isZero();
        }
    }

    @Test
    @DisplayName("E14: a replica without its master, a read-only replica, and a writable one again")
    void replica_cannotDecide_untilItIsMasterAgain() {
        try (RedisServer master = RedisServer.start("--repl-diskless-sync", "no");
                RedisServer replica =
                        RedisServer.start("--replica-serve-stale-data", "no", "--repl-diskless-load", "disabled");
                Scene scene = new Scene(replica.uri(), settings -> settings.deadline(PATIENT)).connected()) {
            become(replica, 1);
            awaitFailure(scene, RedisStoreFailure.CLUSTER);
            assertThat(scene.store.available()).isFalse();

            // so slowly that it is seen to load: it checks every 2 MB
            master.ask(redis -> {
                for (int i = 0; i < 60; i++) {
                    redis.set("k" + i, "x".repeat(100_000));
                }
                return redis.configSet("rdbcompression", "no");
            });
            replica.ask(redis ->
                    redis.configSet("key-load-delay", "15000") + redis.configSet("replica-serve-stale-data", "yes"));
            become(replica, master.port());
            awaitFailure(scene, RedisStoreFailure.LOADING);
            awaitFailure(scene, RedisStoreFailure.READONLY);
            assertThat(scene.store.available()).isFalse();

            replica.ask(redis -> redis.replicaofNoOne());
            scene.awaitRedis();
            assertThat(scene.events.failures(RemoteStoreFailure.ERROR)).isZero();
        }
    }

    private static void become(RedisServer replica, int port) {
        replica.ask(redis -> redis.replicaof("127.0.0.1", port));
    }

    private static void awaitFailure(Scene scene, StoreFailure.Reason reason) {
        int before = scene.events.failures(reason);
        Scene.awaitUntil(() -> {
            Decision decision = scene.decide(WIDE, "k");
            assertThat(decision.admitted()).isTrue();
            return scene.events.failures(reason) > before && !scene.store.available();
        });
    }
}

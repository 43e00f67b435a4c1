package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What remains in Redis, and the cost of decisions. */
@Tag("servers")
class KeysTest {

    private static final int OPERATIONS = 10_000;
    private static final int THREADS = 4;

    @Started
    private static RedisServer server;

    private static Scene scene;

    @BeforeAll
    static void createStore() {
        scene = new Scene(server.uri(), settings -> settings.deadline(Duration.ofSeconds(20))).connected();
    }

    @AfterAll
    static void closeStore() {
        scene.close();
    }

    @BeforeEach
    void forgetAll() {
        server.commands().flushall();
    }

    private static List<Policy> policies() {
        Rate quick = Rate.parse("5/50ms");
        Rate slow = Rate.parse("50/minute");
        List<Policy> policies = new ArrayList<>();
        for (Rate rate : List.of(quick, slow)) {
            for (Limit limit : List.of(
                    TokenBucket.of(rate),
                    TokenBucket.of(rate, 20, TokenBucket.Refill.INTERVAL),
                    FixedWindow.of(rate),
                    FixedWindow.onClock(rate, ZoneOffset.UTC),
                    SlidingWindow.of(rate),
                    SlidingLog.of(rate))) {
                policies.add(Policy.of("p" + policies.size() % 5, limit));
            }
        }
        return policies;
    }

    @Test
    @Tag("slow")
    @DisplayName("D8: after each of 10,000 operations of all algorithms the key lives as long as it takes to be full")
    void ttl_afterAnyOperation_isTimeToFull() {
        long seed = Seeds.next();
        List<CompletableFuture<Void>> running = IntStream.range(0, THREADS)
                .mapToObj(thread -> CompletableFuture.runAsync(
                        () -> operate(new Random(seed + thread), "t" + thread + "-"), task -> new Thread(task).start()))
                .toList();
        running.forEach(done -> assertThat(done).as("seed %s", seed).succeedsWithin(Duration.ofMinutes(1)));

        for (String key : server.commands().keys("*")) {
            // -2: expired in the meantime
            assertThat(server.commands().pttl(key)).as(key).isNotEqualTo(-1);
        }
    }

    private static void operate(Random random, String prefix) {
        KeyNames names = new KeyNames("ratelimit");
        List<Policy> policies = policies();
        List<Charge> taken = new ArrayList<>();
        List<Decision> answers = new ArrayList<>();
        for (int i = 0; i < OPERATIONS / THREADS; i++) {
            Policy policy = policies.get(random.nextInt(policies.size()));
            Limit limit = policy.limits().get(0);
            Charge charge = policy.charge(prefix + random.nextInt(3), random.nextInt((int) limit.capacity() + 2));
            switch (random.nextInt(8)) {
                case 0 -> scene.store.peek(List.of(charge));
                case 1 -> scene.store.reset(policy, charge.key());
                case 2 -> {
                    if (!taken.isEmpty()) {
                        int at = random.nextInt(taken.size());
                        charge = taken.remove(at);
                        scene.store.refund(answers.remove(at));
                    }
                }
                default -> {
                    Decision decision = scene.store.decide(List.of(charge));
                    if (decision.admitted()) {
                        taken.add(charge);
                        answers.add(decision);
                    }
                }
            }
            assertTtl(names.name(charge.policy().name(), charge.key()) + 0);
        }
    }

    /** The time to full is at most a minute here, and twice that for two sliding windows or a burst of two refills. */
    private static void assertTtl(String key) {
        assertThat(server.commands().pttl(key)).isNotEqualTo(-1).isLessThanOrEqualTo(121_000L);
    }

    @Test
    @DisplayName("D8: a key with a known state lives exactly as long as the answer says")
    void ttl_ofEachAlgorithm_isWhatTheAnswerSays() {
        KeyNames names = new KeyNames("ratelimit");
        policies().forEach(policy -> {
            long fullAfter = scene.decide(policy, "k").limits().get(0).fullAfterNanos();
            long pttl = server.commands().pttl(names.name(policy.name(), "k") + 0);
            assertThat(pttl).isLessThanOrEqualTo(Duration.ofNanos(fullAfter).toMillis() + 1);
            scene.store.reset(policy, "k");
            assertThat(server.commands().exists(names.name(policy.name(), "k") + 0))
                    .isZero();
        });
    }

    @Test
    @DisplayName("B8: one command per decision, however many limits and policies it has")
    void decide_anyCharges_isOneCommand() {
        Policy two = Policy.of("two", TokenBucket.of(Rate.parse("100/day")), SlidingWindow.of(Rate.parse("50/hour")));
        Policy one = Policy.of("one", FixedWindow.of(Rate.parse("1000/day")));
        List<Charge> charges = List.of(two.charge("k"), one.charge("k"), one.charge("k", 2));
        scene.store.decide(charges);
        server.commands().configResetstat();

        for (int i = 0; i < 60; i++) {
            scene.store.decide(charges);
        }

        Map<String, Long> calls = calls();
        assertThat(calls).containsEntry("evalsha", 60L).containsEntry("mget", 60L);
        // what the script calls counts as well; 49 of 60 were admitted, and wrote three keys each
        assertThat(calls).containsEntry("time", 60L).containsEntry("psetex", 3 * 49L);
        assertThat(calls.keySet()).isSubsetOf("evalsha", "mget", "time", "psetex", "config", "config|resetstat");
    }

    private static Map<String, Long> calls() {
        Matcher line = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)")
                .matcher(server.commands().info("commandstats"));
        Map<String, Long> calls = new TreeMap<>();
        while (line.find()) {
            calls.put(line.group(1), Long.parseLong(line.group(2)));
        }
        return calls;
    }

    @Test
    @DisplayName("D7: only a digest of a key of 1 MiB is sent and stored")
    void hugeKey_isSentAndKeptAsDigest() {
        Policy policy = Policy.of("huge", TokenBucket.of(Rate.parse("10/day")));
        String key = "k".repeat(1 << 20);
        scene.decide(policy, key);
        long before = received();

        for (int i = 0; i < 10; i++) {
            scene.decide(policy, key);
        }

        assertThat(received() - before).isLessThan(10 * 400);
        assertThat(server.commands().keys("*")).hasSize(1).allMatch(name -> name.length() <= 128);
    }

    private static long received() {
        Matcher bytes = Pattern.compile("total_net_input_bytes:(\\d+)")
                .matcher(server.commands().info("stats"));
        assertThat(bytes.find()).isTrue();
        return Long.parseLong(bytes.group(1));
    }
}

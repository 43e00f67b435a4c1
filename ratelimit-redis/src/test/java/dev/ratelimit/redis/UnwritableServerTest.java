package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.redis.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A server that answers whatever only reads, and refuses what writes. Nine of ten calls are refusals, questions, callers who
 * queue in vain and reservations that are settled at what is left, and succeed.
 */
@Tag("servers")
@Tag("slow")
class UnwritableServerTest {

    private static final Duration DAY = Duration.ofDays(10_000);

    /** Nothing measurable comes back during a test. */
    private static final Policy TWENTY = Policy.of("twenty", TokenBucket.of(Rate.of(20, DAY)));

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.of(1, DAY)));
    private static final Policy PENALIZED =
            Policy.of("penalized", TokenBucket.of(Rate.of(1, DAY))).withPenalty(Duration.ofDays(1));
    private static final Policy HELD = Policy.of("held", Concurrency.of(10));

    /** What it is that goes wrong, for real. */
    enum Fault {
        REPLICA("readonly") {
            @Override
            void begin(RedisServer server) {
                // nobody is there, so it keeps its keys
                server.commands().replicaof("127.0.0.1", 1);
            }

            @Override
            void end(RedisServer server) {
                server.commands().replicaofNoOne();
            }
        },
        DISK("unwritable") {
            @Override
            void begin(RedisServer server) {
                server.commands().configSet("save", "3600 1");
                run(() -> Files.createDirectories(dump(server).resolve("in-the-way")));
                save(server, "err");
            }

            @Override
            void end(RedisServer server) {
                run(() -> {
                    Files.delete(dump(server).resolve("in-the-way"));
                    Files.delete(dump(server));
                    return dump(server);
                });
                save(server, "ok");
            }

            private static Path dump(RedisServer server) {
                return server.directory().resolve("dump.rdb");
            }

            private static void save(RedisServer server, String status) {
                server.commands().bgsave();
                Scene.awaitUntil(
                        () -> server.commands().info("persistence").contains("rdb_last_bgsave_status:" + status));
            }
        },
        REPLICAS("unwritable") {
            @Override
            void begin(RedisServer server) {
                server.commands().configSet("min-replicas-to-write", "1");
            }

            @Override
            void end(RedisServer server) {
                server.commands().configSet("min-replicas-to-write", "0");
            }
        },
        CLUSTER("readonly") {
            @Override
            RedisServer start() {
                RedisServer server = RedisServer.start("--cluster-enabled", "yes");
                server.commands()
                        .clusterAddSlots(IntStream.rangeClosed(0, LAST_SLOT).toArray());
                end(server);
                return server;
            }

            @Override
            void begin(RedisServer server) {
                server.commands().configSet("cluster-allow-reads-when-down", "yes");
                server.commands().clusterDelSlots(LAST_SLOT);
                Scene.awaitUntil(() -> server.commands().clusterInfo().contains("cluster_state:fail"));
            }

            @Override
            void end(RedisServer server) {
                if (!server.commands().clusterInfo().contains("cluster_slots_assigned:16384")) {
                    server.commands().clusterAddSlots(LAST_SLOT);
                }
                Scene.awaitUntil(() -> server.commands().clusterInfo().contains("cluster_state:ok"));
            }
        },
        MEMORY("oom") {
            @Override
            void begin(RedisServer server) {
                server.commands().configSet("maxmemory-policy", "noeviction");
                server.commands().configSet("maxmemory", "1");
            }

            @Override
            void end(RedisServer server) {
                server.commands().configSet("maxmemory", "0");
            }
        };

        private static final int LAST_SLOT = 16_383;

        private final String reason;

        Fault(String reason) {
            this.reason = reason;
        }

        RedisServer start() {
            return RedisServer.start();
        }

        abstract void begin(RedisServer server);

        abstract void end(RedisServer server);

        private static void run(Callable<?> change) {
            try {
                change.call();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Calls of which one in ten may write. */
    private static final class Calls implements AutoCloseable {

        private final RateLimiter limiter;
        private final RateLimitQueue queue;

        Calls(RedisStore store) {
            limiter = new RateLimiter(store);
            queue = RateLimitQueue.builder(store)
                    .policy(ONE.name(), Waiting.of(Duration.ofHours(1), 1))
                    .build();
            assertThat(limiter.tryAcquire(ONE, "full")).isTrue();
            assertThat(limiter.tryAcquire(PENALIZED, "full")).isTrue();
        }

        /** Returns whether the call that may write was admitted. */
        boolean ten(Policy policy, String key) {
            for (int i = 0; i < 3; i++) {
                assertThat(limiter.tryAcquire(ONE, "full")).isFalse();
            }
            assertThat(limiter.peek(ONE.charge("full")).admitted()).isFalse();
            assertThat(limiter.peekAsync(List.of(ONE.charge("full"))).join().admitted())
                    .isFalse();
            assertThat(limiter.inspect(ONE, "full").get(0).remaining()).isZero();
            assertThat(limiter.inspect(policy, key)).isNotEmpty();
            assertThat(queue.acquireAsync(ONE.charge("full")).join().admitted()).isFalse();
            limiter.reserve(PENALIZED.charge("full", 0)).settle(5);
            return limiter.tryAcquire(policy, key);
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "one warning at the first write that fails, at most the share of each key, and the server again in time")
    void server_thatOnlyReads_isNotedAndLeftAloneUntilItWrites(Fault fault) {
        try (RedisServer server = fault.start();
                Scene scene = new Scene(
                                server.uri(),
                                settings -> settings.deadline(Duration.ofSeconds(20))
                                        .openFor(Duration.ofSeconds(1))
                                        .localShare(0.5))
                        .connected();
                Calls calls = new Calls(scene.store)) {
            RateLimiter limiter = calls.limiter;
            int before = scene.events.failures();
            // on a busy machine, the first connection may take too long
            int noted = scene.events.warnings().size();
            for (int i = 0; i < 4; i++) {
                assertThat(calls.ten(TWENTY, "used")).isTrue();
            }
            Reservation cheaper = limiter.reserve(TWENTY.charge("cheaper", 5));
            Reservation ends = limiter.reserve(HELD.charge("k"));
            Reservation stays = limiter.reserve(HELD.charge("k"));
            assertThat(scene.events.failures()).isEqualTo(before);
            fault.begin(server);

            // the first write that fails is the first one that is tried
            assertThat(calls.ten(TWENTY, "used")).isTrue();
            assertThat(warnings(scene, noted)).hasSize(1).allMatch(text -> text.contains("(" + fault.reason + ": "));
            assertThat(scene.store.available()).isFalse();
            int used = 1;
            int unknown = 0;
            for (int i = 0; i < 20; i++) {
                used += calls.ten(TWENTY, "used") ? 1 : 0;
                unknown += calls.ten(TWENTY, "unknown") ? 1 : 0;
                requireMemory(scene, "used", 8 - used);
                requireMemory(scene, "unknown", 10 - unknown);
            }
            // half of twenty, of which half of what Redis admitted is used
            assertThat(used).isEqualTo(8);
            assertThat(unknown).isEqualTo(10);
            cheaper.settle(2);
            ends.release();
            Reservation here = limiter.reserve(HELD.charge("k"));
            assertThat(here.admitted()).isTrue();
            assertThat(warnings(scene, noted)).hasSize(1);

            fault.end(server);
            await().atMost(Duration.ofSeconds(3))
                    .pollInterval(Duration.ofMillis(10))
                    .until(scene.store::available);
            here.release();
            assertThat(Scene.byRedis(scene.decide(TWENTY, "used"))).isTrue();
            // what memory admitted stays its own; what was given back meanwhile is given back on the server
            assertThat(left(limiter, TWENTY, "used")).isEqualTo(15);
            Scene.awaitUntil(() -> left(limiter, TWENTY, "cheaper") == 18 && left(limiter, HELD, "k") == 9);
            stays.release();
            assertThat(left(limiter, HELD, "k")).isEqualTo(10);
            assertThat(left(limiter, TWENTY, "unknown")).isEqualTo(20);
            assertThat(warnings(scene, noted)).hasSize(2);
        }
    }

    /** Every question about a key is answered by what was used here, and by what the server last said. */
    private static void requireMemory(Scene scene, String key, long remaining) {
        var asked = scene.store.peek(List.of(TWENTY.charge(key)));
        assertThat(Scene.byRedis(asked)).isFalse();
        assertThat(asked.admitted()).isEqualTo(remaining > 0);
        assertThat(asked.limits().get(0).remaining()).isEqualTo(remaining);
    }

    private static List<String> warnings(Scene scene, int noted) {
        List<String> all = scene.events.warnings();
        return all.subList(noted, all.size());
    }

    private static long left(RateLimiter limiter, Policy policy, String key) {
        return limiter.inspect(policy, key).get(0).remaining();
    }
}

package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store whose listener or scheduler fails. */
@Tag("servers")
class FailingPartsTest {

    private static final Policy WINDOWS = Policy.of("windows", FixedWindow.of(Rate.parse("1000/day")));

    @Started
    private static RedisServer server;

    /** The system's scheduler, until it is shut down; knows its alarms. */
    private static final class Alarms implements Scheduler {

        private final Set<Object> set = ConcurrentHashMap.newKeySet();
        private volatile boolean shutDown;

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            if (shutDown) {
                throw new RejectedExecutionException("shut down");
            }
            Object id = new Object();
            set.add(id);
            Alarm alarm = Scheduler.system()
                    .schedule(
                            () -> {
                                set.remove(id);
                                task.run();
                            },
                            delayNanos);
            return () -> {
                set.remove(id);
                alarm.cancel();
            };
        }
    }

    private static Scene scheduledBy(Scheduler scheduler) {
        return new Scene(server.uri(), settings -> settings.scheduler(scheduler).deadline(Duration.ofSeconds(20)))
                .connected();
    }

    private static void makeForeign(String key) {
        RedisClient client = RedisClient.create(server.uri());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            connection.sync().rpush(new KeyNames("ratelimit").name("windows", key) + 0, "x");
        } finally {
            client.shutdown();
        }
    }

    @Test
    void listener_throws_isLoggedOnceAndDecisionsGoOn() {
        makeForeign("listener");
        RemoteStoreListener broken = new RemoteStoreListener() {
            @Override
            public void failed(StoreFailure.Reason reason) {
                throw new IllegalStateException("closed");
            }
        };
        try (Scene scene = new Scene(server.uri(), settings -> settings.listener(broken)).connected()) {
            assertThat(scene.decide(WINDOWS, "listener").admitted()).isTrue();
            assertThat(scene.decide(WINDOWS, "listener").admitted()).isTrue();

            assertThat(scene.events.warnings())
                    .filteredOn(warning -> warning.contains("The listener of the Redis store failed"))
                    .hasSize(1);
        }
    }

    @Test
    void scheduler_shutDownBeforeTheStore_decidesAsIfRedisFailed() {
        Alarms alarms = new Alarms();
        try (Scene scene = scheduledBy(alarms)) {
            alarms.shutDown = true;
            // an answer that is there before anybody waits for it needs no scheduler
            server.pause();

            for (int i = 0; i < 20; i++) {
                assertThat(scene.decide(WINDOWS, "scheduler").admitted()).isTrue();
            }

            assertThat(scene.store.available()).isFalse();
        } finally {
            server.resume();
        }
    }

    @Test
    void close_cancelsAllAlarms() {
        makeForeign("close");
        Alarms alarms = new Alarms();
        try (Scene scene = scheduledBy(alarms)) {
            assertThat(Scene.byRedis(scene.decide(WINDOWS, "known"))).isTrue();
            assertThat(Scene.byRedis(scene.decide(WINDOWS, "close"))).isFalse();
            assertThat(alarms.set).isNotEmpty();

            scene.store.close();

            Scene.awaitUntil(alarms.set::isEmpty);
        }
    }
}

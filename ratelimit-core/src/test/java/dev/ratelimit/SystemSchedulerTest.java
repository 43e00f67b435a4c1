package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The two threads of the system's scheduler. These tests use real time, a few milliseconds. */
@Timeout(60)
class SystemSchedulerTest {

    private static final Duration PATIENT = Duration.ofSeconds(50);

    private final Scheduler scheduler = Scheduler.system();
    private final RateLimiter limiter = new RateLimiter(InMemoryStore.builder().build());
    private final Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("1000/second"), 1));

    @Test
    void sleep_lastsNoShorterThanItShould() throws InterruptedException {
        long start = System.nanoTime();

        scheduler.sleep(3_000_000);
        scheduler.sleep(0);
        scheduler.sleep(-1);

        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(3_000_000);
    }

    @Test
    void sleep_interruptedBefore_throwsAndClearsTheStatus() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> scheduler.sleep(0)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void schedule_taskFails_nextOneStillRuns() {
        CompletableFuture<Throwable> reported = new CompletableFuture<>();
        CompletableFuture<String> ran = new CompletableFuture<>();

        scheduler.schedule(
                () -> {
                    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> reported.complete(failure));
                    throw new IllegalStateException("a task's own");
                },
                0);
        scheduler.schedule(() -> ran.complete(Thread.currentThread().getName()), 1000);

        assertThat(ran.join()).isEqualTo("ratelimit-timer");
        assertThat(reported.join()).hasMessage("a task's own");
    }

    @Test
    void timer_cancelled_holdsNothing() {
        ScheduledThreadPoolExecutor timer = DaemonThreads.timer("test-timer");

        timer.schedule(() -> {}, 1, TimeUnit.DAYS).cancel(false);

        assertThat(timer.getQueue()).isEmpty();
    }

    @Test
    void timer_unused_startsNoThreadAndEndsItsOwn() {
        ScheduledThreadPoolExecutor timer = DaemonThreads.timer("test-timer");

        assertThat(timer.getPoolSize()).isZero();
        assertThat(timer.allowsCoreThreadTimeOut()).isTrue();
        assertThat(timer.getKeepAliveTime(TimeUnit.SECONDS)).isEqualTo(10);
        Thread thread = timer.getThreadFactory().newThread(() -> {});
        assertThat(thread.isDaemon()).isTrue();
        assertThat(thread.getName()).isEqualTo("test-timer");
        assertThat(thread.getContextClassLoader()).isSameAs(ClassLoader.getSystemClassLoader());
    }

    /** An application that was stopped must not be kept by a thread of its library. */
    @Test
    void thread_inheritsNothingOfTheOneThatStartsIt() throws InterruptedException {
        Thread own = Thread.currentThread();
        ClassLoader before = own.getContextClassLoader();
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
        CompletableFuture<String> seen = new CompletableFuture<>();
        Thread thread;
        try {
            own.setContextClassLoader(new ClassLoader() {});
            local.set("inherited");
            thread = DaemonThreads.timer("test-timer")
                    .getThreadFactory()
                    .newThread(() -> seen.complete(String.valueOf(local.get())));
        } finally {
            own.setContextClassLoader(before);
            local.remove();
        }

        thread.start();

        thread.join();
        assertThat(seen).isCompletedWithValue("null");
        assertThat(thread.getContextClassLoader()).isSameAs(ClassLoader.getSystemClassLoader());
    }

    @Test
    void acquire_commonPoolIsBusy_doesNotNeedIt() throws InterruptedException {
        CountDownLatch release = occupyCommonPool();
        try {
            limiter.tryAcquire(policy, "k");
            limiter.tryAcquire(policy, "l");

            assertThat(limiter.acquire(PATIENT, policy.charge("k")).admitted()).isTrue();
            assertThat(limiter.acquireAsync(PATIENT, policy.charge("l")).join().admitted())
                    .isTrue();
        } finally {
            release.countDown();
        }
    }

    private static CountDownLatch occupyCommonPool() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        int threads = ForkJoinPool.getCommonPoolParallelism();
        CountDownLatch busy = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            ForkJoinPool.commonPool().execute(() -> {
                busy.countDown();
                awaitUninterruptibly(release);
            });
        }
        busy.await();
        return release;
    }

    @Test
    void executor_taskBlocks_holdsUpNoAlarm() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<String> blocked = new CompletableFuture<>();
        scheduler.executor().execute(() -> {
            blocked.complete(Thread.currentThread().getName());
            awaitUninterruptibly(release);
        });
        assertThat(blocked.join()).isEqualTo("ratelimit-wait");
        CompletableFuture<String> rung = new CompletableFuture<>();

        scheduler.schedule(() -> rung.complete("rung"), 0);

        assertThat(rung.join()).isEqualTo("rung");
        release.countDown();
    }

    @Test
    void acquireAsync_manyWait_startsTwoThreadsAtMost() {
        Policy shared = Policy.of("shared", TokenBucket.of(Rate.parse("1000000/second"), 1));
        Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
        limiter.tryAcquire(shared, "k");

        List<CompletableFuture<Reservation>> waiting = Stream.generate(
                        () -> limiter.acquireAsync(PATIENT, shared.charge("k")))
                .limit(10_000)
                .toList();
        CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).join();

        Set<Thread> started = new HashSet<>(Thread.getAllStackTraces().keySet());
        started.removeAll(before);
        assertThat(started).extracting(Thread::getName).isSubsetOf("ratelimit-timer", "ratelimit-wait");
        assertThat(waiting).allMatch(future -> future.join().admitted());
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

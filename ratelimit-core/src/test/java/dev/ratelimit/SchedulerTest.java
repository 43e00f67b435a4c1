package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The behaviour of each scheduler: the system's, and one with nothing but alarms, which run immediately. */
@Timeout(60)
class SchedulerTest {

    private static final long HOUR = 3_600_000_000_000L;

    /** Runs the alarms of an hour on request, and others immediately. */
    private static final class Alarms implements Ticker, Scheduler {
        private final Queue<Runnable> set = new ArrayDeque<>();

        @Override
        public long nanos() {
            return 0;
        }

        @Override
        public long epochNanos() {
            return 0;
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            if (delayNanos < HOUR) {
                task.run();
            } else {
                set.add(task);
            }
            return () -> set.remove(task);
        }
    }

    static Stream<Scheduler> schedulers() {
        return Stream.of(Scheduler.system(), new Alarms());
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_completed_returnsTrueAndLeavesNoAlarm(Scheduler scheduler) throws InterruptedException {
        CompletableFuture<String> failed = CompletableFuture.failedFuture(new IllegalStateException("its own"));
        CompletableFuture<String> cancelled = new CompletableFuture<>();
        cancelled.cancel(false);

        assertThat(scheduler.await(CompletableFuture.completedFuture("x"), HOUR))
                .isTrue();
        assertThat(scheduler.await(failed, HOUR)).isTrue();
        assertThat(scheduler.await(cancelled, HOUR)).isTrue();
        assertThat(scheduler.await(CompletableFuture.completedFuture("x"), -1)).isTrue();
        if (scheduler instanceof Alarms alarms) {
            assertThat(alarms.set).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_notCompletedInTime_returnsFalse(Scheduler scheduler) throws InterruptedException {
        assertThat(scheduler.await(new CompletableFuture<>(), 1000)).isFalse();
        assertThat(scheduler.await(new CompletableFuture<>(), -1)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_completedMeanwhile_returnsTrue(Scheduler scheduler) throws InterruptedException {
        CompletableFuture<String> future = new CompletableFuture<>();
        Thread other = new Thread(() -> future.complete("x"));
        other.start();

        assertThat(scheduler.await(future, HOUR)).isTrue();
        other.join();
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_interrupted_throwsAndClearsTheStatus(Scheduler scheduler) {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> scheduler.await(new CompletableFuture<>(), HOUR))
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_completedOnAnInterruptedThread_returnsTrueAndKeepsTheStatus(Scheduler scheduler)
            throws InterruptedException {
        Thread.currentThread().interrupt();

        assertThat(scheduler.await(CompletableFuture.completedFuture("x"), HOUR))
                .isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void await_notCompletedInTime_leavesNothingOnTheFuture(Scheduler scheduler) throws InterruptedException {
        CompletableFuture<String> future = new CompletableFuture<>();

        assertThat(scheduler.await(future, 1000)).isFalse();

        assertThat(future.getNumberOfDependents()).isZero();
    }

    /** As a clock that stands still would never end it. */
    private static final class NeverRinging implements Scheduler {
        private int alarms;

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            alarms++;
            return () -> alarms--;
        }
    }

    @Test
    void waitOfNoTime_needsNoAlarm() throws InterruptedException {
        Scheduler scheduler = new NeverRinging();

        scheduler.sleep(0);
        scheduler.sleep(-1);

        assertThat(scheduler.await(new CompletableFuture<>(), 0)).isFalse();
        assertThat(scheduler.await(new CompletableFuture<>(), -1)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("schedulers")
    void waitOfNoTime_interrupted_throwsAndClearsTheStatus(Scheduler scheduler) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> scheduler.sleep(0)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> scheduler.await(new CompletableFuture<>(), 0))
                .isInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void await_completedMeanwhile_cancelsItsAlarm() throws InterruptedException {
        NeverRinging scheduler = new NeverRinging();
        CompletableFuture<String> future = new CompletableFuture<>();
        Thread other = new Thread(() -> future.complete("x"));
        other.start();

        assertThat(scheduler.await(future, HOUR)).isTrue();

        assertThat(scheduler.alarms).isZero();
        other.join();
    }

    @Test
    void of_tickerThatSchedules_isTheTicker() {
        Alarms both = new Alarms();

        assertThat(Scheduler.of(both)).isSameAs(both);
    }

    @Test
    void of_tickerAlone_isTheSystems() {
        assertThat(Scheduler.of(Ticker.system())).isSameAs(Scheduler.system());
    }
}

package dev.ratelimit.spring.rules.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Scheduler;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EndAlarmTest {

    private final FakeTicker time = new FakeTicker();
    private final AtomicInteger rounds = new AtomicInteger();

    /** Runs tasks on the thread that moves the time. */
    private Scheduler running(Executor tasks) {
        return new Scheduler() {

            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                return time.schedule(task, delayNanos);
            }

            @Override
            public Executor blockingExecutor() {
                return tasks;
            }
        };
    }

    private void setIn(EndAlarm alarm, Duration after) {
        alarm.set((time.epochNanos() + after.toNanos()) / 1000);
    }

    /** As an error of the application's own listener of meters does. */
    @Test
    void task_thatFails_isTriedAgain() {
        EndAlarm alarm = new EndAlarm(running(Runnable::run), time, () -> {
            if (rounds.incrementAndGet() == 1) {
                throw new NoClassDefFoundError("of the application");
            }
        });
        setIn(alarm, Duration.ofSeconds(10));

        time.advance(Duration.ofSeconds(10));
        assertThat(rounds).hasValue(1);
        time.advance(Duration.ofSeconds(1));
        assertThat(rounds).hasValue(2);
        time.advance(Duration.ofSeconds(10));
        assertThat(rounds).hasValue(2);
    }

    @Test
    void task_withoutAThread_isTriedAgain() {
        AtomicInteger asked = new AtomicInteger();
        EndAlarm alarm = new EndAlarm(
                running(task -> {
                    switch (asked.incrementAndGet()) {
                        case 1 -> throw new RejectedExecutionException();
                        case 2 -> throw new OutOfMemoryError("unable to create native thread");
                        default -> task.run();
                    }
                }),
                time,
                rounds::incrementAndGet);
        setIn(alarm, Duration.ofSeconds(10));

        time.advance(Duration.ofSeconds(13));

        assertThat(rounds).hasValue(1);
    }

    @Test
    void ring_runsTheTask_onceForAllWhoAsk_andAgainUntilThereIsAThread() {
        Queue<Runnable> tasks = new ArrayBlockingQueue<>(1);
        EndAlarm alarm = new EndAlarm(running(tasks::add), time, rounds::incrementAndGet);

        alarm.ring();
        alarm.ring();
        tasks.remove().run();
        assertThat(rounds).hasValue(1);
        tasks.add(() -> {});
        alarm.ring();
        tasks.clear();
        alarm.ring();
        assertThat(tasks).isEmpty();
        time.advance(Duration.ofSeconds(1));
        tasks.remove().run();

        assertThat(rounds).hasValue(2);
        assertThat(time.alarms()).isZero();
    }
}

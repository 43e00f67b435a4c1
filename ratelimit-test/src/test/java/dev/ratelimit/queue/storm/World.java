package dev.ratelimit.queue.storm;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The clock, the scheduler and the executor of a history. One thread at a time uses it. */
final class World implements Ticker, Scheduler {

    /** An alarm that has neither rung nor been cancelled. */
    private static final class Ring {

        final long at;
        final Runnable task;

        Ring(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }
    }

    /** More tasks than any history has, unless its queue never comes to rest. */
    private static final int MOST = 20_000;

    private final long tickNanos;
    private final Random random;
    private final Consumer<String> foreign;
    private final List<Ring> alarms = new ArrayList<>();
    private final List<Runnable> tasks = new ArrayList<>();
    private long nanos;

    /**
     * Creates a world in which nothing has happened.
     *
     * @param tickNanos how far the clock moves at each reading
     * @param random what the order of tasks is drawn from
     * @param foreign hears of each call, before it has an effect
     */
    World(long tickNanos, Random random, Consumer<String> foreign) {
        this.tickNanos = tickNanos;
        this.random = random;
        this.foreign = foreign;
    }

    /** What the clock shows, without a reading that moves it. */
    long now() {
        return nanos;
    }

    @Override
    public long nanos() {
        foreign.accept("the clock");
        nanos += tickNanos;
        return nanos;
    }

    @Override
    public long epochNanos() {
        return nanos();
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        // whatever others do meanwhile does not make it late
        Ring ring = new Ring(nanos + delayNanos, task);
        foreign.accept("an alarm");
        alarms.add(ring);
        return () -> {
            alarms.remove(ring);
            foreign.accept("the end of an alarm");
        };
    }

    @Override
    public Executor executor() {
        return task -> {
            foreign.accept("the executor");
            tasks.add(task);
        };
    }

    /** The same clock for a store, which calls nothing that is foreign to the queue. */
    Ticker clockOfStore() {
        return new Ticker() {
            @Override
            public long nanos() {
                nanos += tickNanos;
                return nanos;
            }

            @Override
            public long epochNanos() {
                return nanos();
            }
        };
    }

    int alarms() {
        return alarms.size();
    }

    void pause(long by) {
        nanos += by;
    }

    /** Time passes, and whatever is due is done in time. */
    void advance(long by) {
        long until = nanos + by;
        run();
        for (int rung = 0; nextAlarm() - until <= 0; rung++) {
            check(rung);
            nanos = Math.max(nanos, nextAlarm());
            run();
        }
        nanos = Math.max(nanos, until);
    }

    /** Time passes until the next alarm, and whatever is due then is done. */
    void advanceToAlarm() {
        advance(Math.max(0, nextAlarm() - nanos));
    }

    private long nextAlarm() {
        return alarms.stream().mapToLong(ring -> ring.at).min().orElse(Long.MAX_VALUE);
    }

    /** Does whatever is due by now, tasks in any order. */
    void run() {
        for (int done = 0; !tasks.isEmpty() || nextAlarm() <= nanos; done++) {
            check(done);
            if (nextAlarm() <= nanos && (tasks.isEmpty() || random.nextBoolean())) {
                Ring ring = alarms.stream()
                        .min(Comparator.comparingLong(alarm -> alarm.at))
                        .orElseThrow();
                alarms.remove(ring);
                ring.task.run();
            } else {
                tasks.remove(random.nextInt(tasks.size())).run();
            }
        }
    }

    private static void check(int done) {
        if (done > MOST) {
            throw new AssertionError("the queue never comes to rest");
        }
    }
}

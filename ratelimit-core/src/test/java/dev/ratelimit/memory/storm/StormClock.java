package dev.ratelimit.memory.storm;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.ArrayDeque;
import java.util.Deque;

/** The clocks of a history. Time passes at each reading, and when an actor sets a clock. */
final class StormClock implements Ticker, Scheduler {

    /** What both clocks showed when one was read. */
    record Reading(boolean ofWall, long nanos, long epochNanos) {}

    /** Just before midnight of a day in 2024. */
    private static final long EPOCH_NANOS = 1_720_051_199_000_000_000L;

    private final long tickNanos;
    private final Deque<Runnable> alarms = new ArrayDeque<>();
    private long nanos;
    private long epochNanos = EPOCH_NANOS;

    /**
     * Creates clocks that move on at each reading.
     *
     * @param tickNanos by this time
     */
    StormClock(long tickNanos) {
        this.tickNanos = tickNanos;
    }

    void advance(long by) {
        nanos += by;
        epochNanos += by;
    }

    void setWallClockBack(long by) {
        epochNanos -= by;
    }

    /** What the clocks show, without a reading that moves them. */
    Reading reading(boolean ofWall) {
        return new Reading(ofWall, nanos, epochNanos);
    }

    private Reading read(boolean wall) {
        if (!(Thread.currentThread() instanceof Actor actor)) {
            return reading(wall);
        }
        actor.foreign(wall ? "the wall clock" : "the clock");
        advance(tickNanos);
        Reading reading = reading(wall);
        actor.readings().add(reading);
        return reading;
    }

    @Override
    public long nanos() {
        return read(false).nanos;
    }

    @Override
    public long epochNanos() {
        return read(true).epochNanos;
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        alarms.add(task);
        return () -> alarms.remove(task);
    }

    int alarms() {
        return alarms.size();
    }

    /** Runs the alarm that was set first, if there is one. */
    void ring() {
        Runnable alarm = alarms.poll();
        if (alarm != null) {
            alarm.run();
        }
    }
}

package dev.ratelimit.memory.storm;

import dev.ratelimit.memory.storm.Step.Place;
import java.util.Random;

/** What the woven store calls: see {@link Weaver}. Has no effect on threads that are not actors. */
public final class Points {

    private Points() {}

    /** Before an access that other threads can observe. */
    public static void access(String where) {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.access(where);
        }
    }

    /** Before a call, for which there may be no stack. */
    public static void call(String where) {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.point(Place.CALL, where);
        }
    }

    /** Before an allocation, for which there may be no heap. */
    public static void allocation(String where) {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.point(Place.ALLOCATION, where);
        }
    }

    /** Instead of backing off. */
    public static void backOff(int failures) {
        waits();
    }

    /** Instead of {@code LockSupport.parkNanos}. */
    public static void park(Object blocker, long nanos) {
        waits();
    }

    private static void waits() {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.waits();
        }
    }

    /** At the beginning of a synchronized method: a thread that holds a monitor must not pass the baton on. */
    public static void enter() {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.mute(1);
        }
    }

    /** At the end of a synchronized method. */
    public static void exit() {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.mute(-1);
        }
    }

    /** Instead of {@code Thread.getId}, which depends on what ran before; two actors have the same. */
    public static long id(Thread thread) {
        return thread instanceof Actor actor ? actor.number() / 2 : 0;
    }

    /** Instead of {@code SecureRandom}, so that keys have the same hashes in each run. */
    public static final class FixedRandom extends Random {

        public FixedRandom() {
            super(1);
        }
    }
}

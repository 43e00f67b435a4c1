package dev.ratelimit.memory.storm;

import dev.ratelimit.memory.storm.Step.Place;
import dev.ratelimit.memory.storm.StormClock.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a history. It runs while it has the baton, and may pass it on at each {@linkplain Points point}. Threads
 * are used again, because a history is short.
 */
final class Actor extends Thread {

    private static final ConcurrentLinkedDeque<Actor> IDLE = new ConcurrentLinkedDeque<>();

    private final Semaphore baton = new Semaphore(0);
    private int number;
    private @Nullable Stage stage;
    private @Nullable Runnable task;
    private @Nullable Fuse fuse;
    private final List<Reading> readings = new ArrayList<>();
    private int muted;

    /** Where the thread was before its last point. */
    private String where = "";

    private Actor() {
        super("storm");
        setDaemon(true);
    }

    /** An actor that runs the task as soon as it gets the baton. */
    static Actor of(int number, Stage stage, Runnable task) {
        Actor idle = IDLE.poll();
        Actor actor = idle == null ? new Actor() : idle;
        actor.number = number;
        actor.stage = stage;
        actor.task = task;
        actor.muted = 0;
        actor.fuse = null;
        actor.where = "its beginning";
        if (idle == null) {
            actor.start();
        }
        return actor;
    }

    @Override
    public void run() {
        while (true) {
            awaitBaton();
            Runnable next = task;
            Stage here = stage;
            if (next != null && here != null) {
                next.run();
                stage = null;
                // first: the next history may start as soon as the last actor of this one has ended
                IDLE.push(this);
                here.ended(this);
            }
        }
    }

    int number() {
        return number;
    }

    String where() {
        return where;
    }

    /** What this thread has read from the clocks since the list was emptied. */
    List<Reading> readings() {
        return readings;
    }

    void passBaton() {
        baton.release();
    }

    void awaitBaton() {
        baton.acquireUninterruptibly();
    }

    /** Sets what is thrown at a later point; {@code null} for nothing. */
    void arm(@Nullable Fuse armed) {
        fuse = armed;
    }

    void mute(int change) {
        muted += change;
    }

    void access(String at) {
        if (stage != null && muted == 0) {
            where = at;
            stage.access(this);
        }
    }

    void point(Place kind, String at) {
        if (fuse != null && muted == 0) {
            fuse.point(kind, at);
        }
    }

    /** A call of a limit or a reading of a clock. */
    void foreign(String at) {
        access(at);
        point(Place.FOREIGN, at);
    }

    void waits() {
        if (stage != null) {
            stage.waits(this);
        }
    }
}

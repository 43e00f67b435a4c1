package dev.ratelimit.redis.storm;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The right to run, which one thread has at a time. A thread that has it passes it on to another one, and then waits
 * until it gets it back. Threads are used again, because a history has some hundred short calls.
 */
final class Baton {

    /** Since they can wait in monitors; to pass the right to run on costs them far less. */
    private static final int VIRTUAL_THREADS_SINCE = 24;

    private static final ThreadFactory THREADS =
            Runtime.version().feature() < VIRTUAL_THREADS_SINCE ? task -> new Thread(task, "storm") : virtualThreads();

    private static final ConcurrentLinkedDeque<Baton> IDLE = new ConcurrentLinkedDeque<>();

    private final Semaphore mine = new Semaphore(0);
    private @Nullable Runnable task;

    private Baton() {}

    /** The baton of the thread that calls this. */
    static Baton ofCaller() {
        return new Baton();
    }

    /** The baton of a thread that runs this task as soon as it gets the right to run. */
    static Baton ofThread(Runnable task) {
        Baton idle = IDLE.poll();
        Baton baton = idle == null ? newThread() : idle;
        baton.task = task;
        return baton;
    }

    private static Baton newThread() {
        Baton baton = new Baton();
        Thread thread = THREADS.newThread(baton::loop);
        thread.setDaemon(true);
        thread.start();
        return baton;
    }

    private static ThreadFactory virtualThreads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private void loop() {
        while (true) {
            await();
            Runnable next = task;
            task = null;
            if (next != null) {
                next.run();
            }
            boolean unused = Thread.interrupted();
            IDLE.push(this);
        }
    }

    /** Gives the thread of this baton the right to run. */
    void pass() {
        mine.release();
    }

    /** Waits, on the thread of this baton, for the right to run. */
    void await() {
        mine.acquireUninterruptibly();
    }
}

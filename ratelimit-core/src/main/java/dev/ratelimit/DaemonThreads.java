package dev.ratelimit;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads. Each starts with its first task and ends when it has had none for ten seconds; it inherits neither the
 * class loader nor the thread locals of the thread that starts it.
 */
final class DaemonThreads {

    private static final long IDLE_SECONDS = 10;

    private DaemonThreads() {}

    /** Runs tasks later, on one thread; releases cancelled tasks immediately. */
    static ScheduledThreadPoolExecutor timer(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, named(name));
        timer.setRemoveOnCancelPolicy(true);
        endWhenIdle(timer);
        return timer;
    }

    /** Runs tasks in order, on one thread. */
    static Executor queue(String name) {
        return pool(name, 1, Integer.MAX_VALUE);
    }

    /** Runs tasks on up to so many threads, and rejects tasks if more than {@code maxWaiting} wait for one. */
    static Executor pool(String name, int threads, int maxWaiting) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(maxWaiting), named(name));
        endWhenIdle(pool);
        return pool;
    }

    private static void endWhenIdle(ThreadPoolExecutor executor) {
        executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
    }

    private static ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
            thread.setDaemon(true);
            return thread;
        };
    }
}

package dev.ratelimit.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many threads that start at the same time. They are used again: to start them takes longer than most tasks. */
final class Threads {

    private static final ExecutorService POOL = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private Threads() {}

    /** Runs the task this many times on each thread, and waits for all; fails with the first failure. */
    static void run(int threads, int times, Runnable task) throws InterruptedException {
        CountDownLatch start = new CountDownLatch(1);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            running.add(POOL.submit(() -> {
                start.await();
                for (int n = 0; n < times; n++) {
                    task.run();
                }
                return null;
            }));
        }
        start.countDown();
        Throwable failure = null;
        for (Future<?> thread : running) {
            try {
                thread.get();
            } catch (ExecutionException e) {
                failure = failure == null ? e.getCause() : failure;
            }
        }
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }
}

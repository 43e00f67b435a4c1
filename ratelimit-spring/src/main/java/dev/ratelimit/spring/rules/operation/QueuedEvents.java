package dev.ratelimit.spring.rules.operation;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes events to the application in order, on a thread of its own, so that neither a slow listener nor one that throws
 * harms a request; and not before the application has started, because whoever looks for listeners creates beans, and a
 * thread that does so meanwhile lets the start fail. At most {@link #MAX_WAITING} events wait; those beyond are not
 * published. Thread-safe.
 */
public final class QueuedEvents implements AutoCloseable {

    /** The maximum number of events that wait for a slow listener. */
    static final int MAX_WAITING = 1000;

    private static final Logger log = LoggerFactory.getLogger(QueuedEvents.class);

    private static final String THREAD = "ratelimit-events";
    private static final long IDLE_SECONDS = 10;

    private final Consumer<Object> publisher;
    private final Executor executor;

    /** Opened when the application has started, or ends. */
    private final CountDownLatch started;

    private volatile boolean closed;
    private final AtomicBoolean toldFailure = new AtomicBoolean();
    private final AtomicBoolean toldFull = new AtomicBoolean();

    /**
     * Publishes events by this executor, from now on.
     *
     * @param publisher hands an event to all listeners
     * @param executor rejects tasks if too many wait
     */
    QueuedEvents(Consumer<Object> publisher, Executor executor) {
        this(publisher, executor, new CountDownLatch(0));
    }

    private QueuedEvents(Consumer<Object> publisher, Executor executor, CountDownLatch started) {
        this.publisher = publisher;
        this.executor = executor;
        this.started = started;
    }

    /**
     * Publishes events on a daemon thread, which starts with the first event and ends after ten idle seconds; none before
     * {@link #start}.
     *
     * @param publisher hands an event to all listeners
     * @param loader the class loader of the application
     */
    public static QueuedEvents onOwnThread(Consumer<Object> publisher, @Nullable ClassLoader loader) {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_WAITING), task -> {
                    Thread started = new Thread(null, task, THREAD, 0, false);
                    started.setContextClassLoader(loader);
                    started.setDaemon(true);
                    return started;
                });
        thread.allowCoreThreadTimeOut(true);
        return new QueuedEvents(publisher, thread, new CountDownLatch(1));
    }

    /** The application has started: publishes what waits, and from now on whatever comes. */
    public void start() {
        started.countDown();
    }

    /**
     * Publishes an event soon, if not too many wait.
     *
     * @param event makes it, on the thread of the listeners
     * @return whether it will be published
     */
    boolean offer(Supplier<Object> event) {
        try {
            executor.execute(() -> tell(event));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Publishes an event soon that is not left out, unless a listener hangs; then this is logged once. */
    public void publish(Object event) {
        if (!offer(() -> event) && toldFull.compareAndSet(false, true)) {
            log.warn(
                    "Events of rate limits are lost, because {} wait for a listener that takes too long, or because the"
                            + " application ends. Later ones that are lost are not logged.",
                    MAX_WAITING);
        }
    }

    private void tell(Supplier<Object> event) {
        try {
            started.await();
            if (!closed) {
                publisher.accept(event.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            if (toldFailure.compareAndSet(false, true)) {
                log.warn(
                        "A listener of the events of rate limits has failed; those after it did not get the event. Later"
                                + " failures are not logged.",
                        e);
            }
        }
    }

    /** Events that wait are not published any more: the application ends, and so do its listeners. */
    @Override
    public void close() {
        closed = true;
        if (executor instanceof ThreadPoolExecutor thread) {
            thread.shutdown();
            thread.getQueue().clear();
        }
        started.countDown();
    }
}

package dev.ratelimit.spring.rules.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Listeners have a thread of their own, and whoever publishes an event notices nothing of them. */
@ExtendWith(OutputCaptureExtension.class)
class QueuedEventsTest {

    private final List<Object> heard = new CopyOnWriteArrayList<>();

    @Test
    void listenerThatThrows_isLoggedOnce_andGetsTheNextEvent(CapturedOutput output) {
        QueuedEvents events = new QueuedEvents(
                event -> {
                    heard.add(event);
                    throw new IllegalStateException("a listener's own");
                },
                Runnable::run);

        events.publish("first");
        events.publish("second");

        assertThat(heard).containsExactly("first", "second");
        assertThat(output.getOut().split("A listener of the events of rate limits has failed", -1))
                .hasSize(2);
    }

    @Test
    void listenerThatHangs_letsABoundedNumberWait_inOrder(CapturedOutput output) throws InterruptedException {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch all = new CountDownLatch(QueuedEvents.MAX_WAITING + 1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        ClassLoader loader = new ClassLoader(QueuedEventsTest.class.getClassLoader()) {};
        try (QueuedEvents events = QueuedEvents.onOwnThread(
                event -> {
                    thread.set(Thread.currentThread());
                    hanging.countDown();
                    awaitQuietly(goOn);
                    heard.add(event);
                    all.countDown();
                },
                loader)) {
            events.start();
            events.publish(0);
            hanging.await();
            for (int i = 1; i <= QueuedEvents.MAX_WAITING; i++) {
                int number = i;
                assertThat(events.offer(() -> number)).isTrue();
            }

            assertThat(events.offer(() -> "one more")).isFalse();
            events.publish("lost");
            events.publish("lost, too");
            goOn.countDown();
            all.await();

            assertThat(heard).hasSize(QueuedEvents.MAX_WAITING + 1).startsWith(0, 1, 2);
            assertThat(output.getOut().split("Events of rate limits are lost", -1))
                    .hasSize(2);
            assertThat(Objects.requireNonNull(thread.get()).getName()).isEqualTo("ratelimit-events");
            assertThat(Objects.requireNonNull(thread.get()).isDaemon()).isTrue();
            assertThat(thread.get().getContextClassLoader()).isSameAs(loader);
        }
    }

    @Test
    void close_dropsWhatWaits_andTakesNoMore() throws InterruptedException {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        QueuedEvents events = QueuedEvents.onOwnThread(
                event -> {
                    thread.set(Thread.currentThread());
                    hanging.countDown();
                    awaitQuietly(goOn);
                    heard.add(event);
                },
                null);
        events.start();
        events.publish("first");
        hanging.await();
        events.publish("waits");

        events.close();
        goOn.countDown();
        Objects.requireNonNull(thread.get()).join();

        assertThat(heard).containsExactly("first");
        assertThat(events.offer(() -> "late")).isFalse();
    }

    @Test
    void events_beforeTheStart_arePublishedAfterIt() throws InterruptedException {
        CountDownLatch both = new CountDownLatch(2);
        try (QueuedEvents events = QueuedEvents.onOwnThread(
                event -> {
                    heard.add(event);
                    both.countDown();
                },
                null)) {
            events.publish("early");
            heard.add("started");
            events.start();
            events.publish("late");
            both.await();
        }

        assertThat(heard).containsExactly("started", "early", "late");
    }

    @Test
    void close_beforeTheStart_dropsAll() {
        AtomicReference<Runnable> task = new AtomicReference<>();
        QueuedEvents events = new QueuedEvents(heard::add, task::set);
        events.publish("early");

        events.close();
        Objects.requireNonNull(task.get()).run();

        assertThat(heard).isEmpty();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

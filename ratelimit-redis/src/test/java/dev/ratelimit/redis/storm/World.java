package dev.ratelimit.redis.storm;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.storm.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A world under virtual time in which one thing happens at a time. Events run in the order of their times; those of the
 * same time in an order drawn from the seed. Code that waits runs as an actor on a thread of its own, but never while
 * anything else runs. The same seed and the same code result in the same events.
 *
 * <p>Each instance of the application lives in a {@link Place}, which can stand still or end.
 */
final class World {

    /** What one reading of a clock takes: two readings differ. */
    private static final long READING_NANOS = 1;

    /** How long it takes at most until a thread runs after what it waited for has happened. */
    private static final long MAX_WAKE_NANOS = 200_000;

    private final class Event implements Comparable<Event> {
        private final long at;
        private final int lot = random.nextInt();
        private final long number = numbered++;
        private final Place place;
        private @Nullable Runnable task;

        private Event(long at, Place place, Runnable task) {
            this.at = at;
            this.place = place;
            this.task = task;
        }

        @Override
        public int compareTo(Event other) {
            int earlier = Long.compare(at, other.at);
            earlier = earlier == 0 ? Integer.compare(lot, other.lot) : earlier;
            return earlier == 0 ? Long.compare(number, other.number) : earlier;
        }
    }

    /** Where code runs: an instance of the application, or what is outside of all. */
    final class Place implements Ticker, Scheduler, Executor {
        private final String name;
        private long wallOffset;
        /** When something may happen here again. */
        long stillUntil = Long.MIN_VALUE / 2;

        /** When the instance had started: before that, it waits longer for an answer. */
        long startedNanos = Long.MAX_VALUE;

        private boolean ended;
        private long noThreadUntil;

        private Place(String name) {
            this.name = name;
        }

        /** Nothing happens here for this time. */
        void standStill(long nanos) {
            stillUntil = Math.max(stillUntil, now + nanos);
        }

        /** Nothing happens here any more, as in a killed process. */
        void end() {
            ended = true;
        }

        boolean hasEnded() {
            return ended;
        }

        /** Sets the wall clock forward, or back. */
        void moveWallClock(long nanos) {
            wallOffset += nanos;
        }

        /** Starts no threads for this time. */
        void refuseThreads(long nanos) {
            noThreadUntil = now + nanos;
        }

        boolean startsThreads() {
            return now >= noThreadUntil;
        }

        @Override
        public long nanos() {
            now += READING_NANOS;
            return now;
        }

        @Override
        public long epochNanos() {
            return EPOCH_NANOS + nanos() + wallOffset;
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            Event event = in(Math.max(0, delayNanos), this, task);
            return () -> event.task = null;
        }

        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // nothing follows it
        public boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
            if (future.isDone()) {
                return true;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            requireOpen();
            Actor waiting = actor();
            long end = now + Math.max(0, nanos);
            in(Math.max(0, nanos), this, () -> waiting.resumeFrom(future));
            future.whenComplete(
                    (result, failure) -> in(random.nextLong(MAX_WAKE_NANOS), this, () -> waiting.resumeFrom(future)));
            waiting.awaited = future;
            while (!future.isDone() && now < end) {
                drive(waiting);
                if (waiting.interrupted) {
                    waiting.interrupted = false;
                    waiting.awaited = null;
                    throw new InterruptedException();
                }
            }
            waiting.awaited = null;
            return future.isDone();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            boolean unused = await(new CompletableFuture<>(), nanos);
        }

        /** Starts a thread here. */
        @Override
        public void execute(Runnable task) {
            if (!startsThreads()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            start(task).sinceNanos = Long.MIN_VALUE;
        }

        /** A pool of threads that have started. */
        @Override
        public Executor executor() {
            return task -> start(task).sinceNanos = Long.MIN_VALUE;
        }

        /** Starts a thread here, and returns before it runs. */
        Actor start(Runnable task) {
            Actor actor = new Actor(this, task);
            actors.add(actor);
            Event unused = in(0, this, actor::begin);
            return actor;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** Code that may wait. */
    final class Actor {
        private final Place place;
        private final Runnable task;
        private @Nullable Baton thread;
        private @Nullable CompletableFuture<?> awaited;
        private boolean interrupted;
        private long sinceNanos = now;
        boolean done;

        private Actor(Place place, Runnable task) {
            this.place = place;
            this.task = task;
        }

        private void begin() {
            next = this;
        }

        private void resumeFrom(CompletableFuture<?> future) {
            if (awaited == future && !done) {
                next = this;
            }
        }

        private Baton baton() {
            Baton known = thread;
            if (known == null) {
                known = Baton.ofThread(this::run);
                thread = known;
            }
            return known;
        }

        /** On a thread of its own, with the right to run. */
        private void run() {
            running = this;
            try {
                task.run();
            } catch (Abandoned e) {
                // its history is over
            } catch (RuntimeException | Error e) {
                failures.add(e);
            }
            done = true;
            running = null;
            if (closing == null) {
                drive(this);
            } else {
                closing.pass();
            }
        }

        /** Interrupts the wait that it is in, if it is in one. */
        void interrupt() {
            if (awaited != null && !done) {
                interrupted = true;
                next = this;
            }
        }
    }

    /** The wall clocks at the beginning: 2026-01-01. */
    static final long EPOCH_NANOS = 1_767_225_600_000_000_000L;

    final Random random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<Actor> actors = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final Place outside = new Place("outside");
    private final Baton main = Baton.ofCaller();
    private @Nullable Baton closing;
    private @Nullable Actor running;
    private @Nullable Actor next;
    private long until;
    private long now;
    private long numbered;

    private final Timeline timeline;

    /** A world in which nothing has happened yet. */
    World(long seed, Timeline timeline) {
        this.random = new Random(seed);
        this.timeline = timeline;
    }

    /** Writes down that something happens. */
    void note(Supplier<String> what) {
        // once something has failed, calls only end
        if (failures.isEmpty()) {
            timeline.note(() -> String.format(Locale.ROOT, "%12.6f s  %s", now / 1e9, what.get()));
        }
    }

    /** Another instance of the application. */
    Place place(String name) {
        return new Place(name);
    }

    /** Where the servers and the network are. */
    Place outside() {
        return outside;
    }

    long now() {
        return now;
    }

    /** Lets something happen after this time. */
    Event in(long delayNanos, Place place, Runnable task) {
        Event event = new Event(now + delayNanos, place, task);
        events.add(event);
        return event;
    }

    /** When the caller that runs began; no time unless it is one. */
    long callingSince() {
        return running == null ? Long.MIN_VALUE : running.sinceNanos;
    }

    private Actor actor() {
        Actor actor = running;
        if (actor == null) {
            throw new IllegalStateException("only an actor may wait, and this is the thread of an alarm or of a reply");
        }
        return actor;
    }

    /** Runs until this time, or until something is thrown. */
    void runUntil(long end) {
        until = end;
        drive(null);
        if (failures.isEmpty()) {
            now = Math.max(now, end);
        }
    }

    /**
     * Lets events happen until the caller is to go on. Whichever thread has the right to run does this, and passes it on
     * only where another actor goes on.
     *
     * @param caller an actor that waits or has ended; {@code null} for the thread of {@link #runUntil}
     */
    private void drive(@Nullable Actor caller) {
        running = null;
        Actor chosen = null;
        while (chosen == null && !isOver()) {
            step(events.remove());
            chosen = next;
            next = null;
        }
        if (chosen == caller) {
            running = caller;
            return;
        }
        (chosen == null ? main : chosen.baton()).pass();
        if (caller == null) {
            main.await();
        } else if (!caller.done) {
            caller.baton().await();
            requireOpen();
            running = caller;
        }
    }

    private boolean isOver() {
        return !failures.isEmpty() || events.isEmpty() || events.peek().at > until;
    }

    private void requireOpen() {
        if (closing != null) {
            throw new Abandoned();
        }
    }

    private void step(Event event) {
        Runnable task = event.task;
        Place place = event.place;
        now = Math.max(now, event.at);
        if (task == null || place.ended) {
            return;
        }
        if (place.stillUntil > now) {
            events.add(new Event(place.stillUntil, place, () -> {
                Runnable late = event.task;
                if (late != null) {
                    late.run();
                }
            }));
            return;
        }
        event.task = null;
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
    }

    /**
     * Records what does not hold; the history ends there. Nothing is thrown, because code under test might catch it.
     */
    void require(boolean holds, String message, @Nullable Object... parameters) {
        if (!holds) {
            String failure = String.format(Locale.ROOT, message, parameters);
            note(() -> "FAILED: " + failure);
            failures.add(new AssertionError(failure));
        }
    }

    /** Throws what did not hold first, or what an event or an actor threw. */
    void throwFailure() {
        for (Throwable first : failures) {
            if (first instanceof AssertionError violation) {
                throw violation;
            }
            throw new IllegalStateException("thrown at " + now + ": " + first, first);
        }
    }

    /** How many alarms and other events of this place are still to come. */
    long pending(Place place) {
        return events.stream()
                .filter(event -> event.place == place && event.task != null)
                .count();
    }

    /** How many actors of this place have not come to their end. */
    long unfinished(Place place) {
        return actors.stream()
                .filter(actor -> actor.place == place && !actor.done)
                .count();
    }

    /** Ends the threads of actors that still wait. */
    void close() {
        Baton own = Baton.ofCaller();
        closing = own;
        // what ends may start others, which never run
        for (Actor actor : List.copyOf(actors)) {
            if (actor.thread != null && !actor.done) {
                actor.thread.pass();
                own.await();
            }
        }
    }
}

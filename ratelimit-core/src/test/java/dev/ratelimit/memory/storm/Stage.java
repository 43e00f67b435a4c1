package dev.ratelimit.memory.storm;

import dev.ratelimit.storm.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where actors run, one at a time. At each point, the seed decides whether the actor goes on or passes the baton on to
 * another one; an actor that would wait always passes it on.
 */
final class Stage {

    /** So many points come from a history without end only; others have a few hundred or thousand. */
    private static final int MAX_POINTS = 200_000;

    /** A history has been waiting for a lock that nobody releases if actors wait so often and no call ends. */
    private static final int MAX_WAITS = 2_000;

    /** Ends an actor after a violation. */
    private static final class Ended extends Error {

        private static final long serialVersionUID = 1;

        private Ended() {
            super("another actor has failed", null, false, false);
        }
    }

    private final Random random;
    private final int oneIn;
    private final Timeline timeline;
    private final List<Actor> actors = new ArrayList<>();
    private final Semaphore over = new Semaphore(0);
    private @Nullable AssertionError violation;
    private int points;
    private int waits;

    /**
     * Creates a stage without actors.
     *
     * @param seed determines who runs when
     * @param oneIn at one in so many points, the baton is passed on
     */
    Stage(long seed, int oneIn, Timeline timeline) {
        this.random = new Random(seed);
        this.oneIn = oneIn;
        this.timeline = timeline;
    }

    /** Adds an actor that will do this. */
    void add(int number, Runnable task) {
        actors.add(Actor.of(number, this, () -> attempt(task)));
    }

    /** Runs the actors until all have ended. */
    void run() {
        if (!actors.isEmpty()) {
            actors.get(random.nextInt(actors.size())).passBaton();
            over.acquireUninterruptibly();
        }
        if (violation != null) {
            throw violation;
        }
    }

    private void attempt(Runnable task) {
        try {
            task.run();
        } catch (Ended e) {
            // another one has failed
        } catch (AssertionError e) {
            violation = violation == null ? e : violation;
        } catch (Throwable e) {
            violation = violation == null ? new AssertionError("an actor failed", e) : violation;
        }
    }

    /** The actor has ended: another one goes on. */
    void ended(Actor actor) {
        actors.remove(actor);
        waits = 0;
        if (actors.isEmpty()) {
            over.release();
        } else {
            actors.get(random.nextInt(actors.size())).passBaton();
        }
    }

    /** A call has ended: those who wait may have waited for it. */
    void progress() {
        waits = 0;
    }

    void access(Actor actor) {
        requireGoingOn();
        if (++points > MAX_POINTS) {
            fail("after %d points, there is no end".formatted(points));
        }
        if (random.nextInt(oneIn) == 0) {
            passOn(actor);
        }
    }

    void waits(Actor actor) {
        requireGoingOn();
        if (++waits > MAX_WAITS) {
            fail("calls wait forever");
        }
        passOn(actor);
    }

    private void passOn(Actor actor) {
        if (actors.size() == 1) {
            return;
        }
        int other = random.nextInt(actors.size() - 1);
        Actor next = actors.get(other < actors.indexOf(actor) ? other : other + 1);
        timeline.note(() ->
                "    thread %d is at %s; thread %d goes on".formatted(actor.number(), actor.where(), next.number()));
        next.passBaton();
        actor.awaitBaton();
        requireGoingOn();
    }

    private void requireGoingOn() {
        if (violation != null) {
            throw new Ended();
        }
    }

    private void fail(String message) {
        violation = new AssertionError(message
                + actors.stream()
                        .map(actor -> "; thread %d is at %s".formatted(actor.number(), actor.where()))
                        .collect(Collectors.joining()));
        throw new Ended();
    }
}

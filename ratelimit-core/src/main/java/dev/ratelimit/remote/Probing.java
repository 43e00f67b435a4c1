package dev.ratelimit.remote;

import dev.ratelimit.Scheduler;
import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Asks a server that is not used whether it is well again, by an alarm, so that no request pays for it and none is needed:
 * at intervals, and once more on each new connection after a probe has failed. The alarm does not keep the store from being
 * collected. Thread-safe.
 */
final class Probing {

    /** The server that is probed. */
    interface Patient {

        /** Whether it is still not used. */
        boolean ill();

        /** The time until the next probe. */
        long untilProbeNanos();

        /** Asks it; completed in time, exceptionally if the server does not decide. */
        CompletableFuture<?> probe();

        /**
         * Judges it by the outcome of a probe.
         *
         * @param early whether the probe came before its time, on a new connection
         */
        void probed(@Nullable Throwable failure, boolean early);
    }

    private final Patient patient;
    private final Scheduler scheduler;
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Counts the alarms: only the latest is obeyed. */
    private final AtomicLong alarms = new AtomicLong();

    /**
     * Whether an alarm is set, or a probe under way that sets the next. Threads that arm it at the same time set an alarm
     * each, of which the last is obeyed.
     */
    private volatile boolean armed;

    /** Whether a new connection is probed at once: one for each probe that was not and failed. */
    private final AtomicBoolean hurry = new AtomicBoolean();

    private volatile boolean ended;

    Probing(Patient patient, Scheduler scheduler) {
        this.patient = patient;
        this.scheduler = scheduler;
    }

    /** Begins, because the server is no longer used. */
    void begin() {
        hurry.set(false);
        arm();
    }

    /** Goes on if the last alarm could not be set. */
    void ensure() {
        if (!armed) {
            arm();
        }
    }

    /** Probes a new connection: on this one, the server may answer. */
    void connected() {
        if (patient.ill() && hurry.compareAndSet(true, false)) {
            probe(true);
        }
    }

    /** Ends for good. */
    void end() {
        ended = true;
    }

    private void arm() {
        if (ended) {
            return;
        }
        armed = true;
        long alarm = alarms.incrementAndGet();
        WeakReference<Probing> weak = new WeakReference<>(this);
        try {
            scheduler.schedule(() -> due(weak, alarm), patient.untilProbeNanos());
        } catch (RuntimeException | Error e) {
            // a thread may fail to start; the next request tries again
            armed = false;
        }
    }

    private static void due(WeakReference<Probing> weak, long alarm) {
        Probing probing = weak.get();
        if (probing != null && probing.alarms.get() == alarm && !probing.ended) {
            probing.due();
        }
    }

    private void due() {
        if (!patient.ill()) {
            armed = false;
        } else if (!probe(false)) {
            arm();
        }
    }

    /** Returns whether a probe has begun. */
    @SuppressWarnings("FutureReturnValueIgnored") // nothing follows it
    private boolean probe(boolean early) {
        if (!busy.compareAndSet(false, true)) {
            return false;
        }
        CompletableFuture<?> outcome;
        try {
            outcome = patient.probe();
        } catch (RuntimeException | Error e) {
            outcome = CompletableFuture.failedFuture(e);
        }
        outcome.whenComplete((answer, failure) -> probed(failure, early));
        return true;
    }

    private void probed(@Nullable Throwable failure, boolean early) {
        busy.set(false);
        try {
            // before a new connection can arrive
            hurry.set(failure != null && !early);
            patient.probed(failure, early);
        } finally {
            if (!patient.ill()) {
                armed = false;
            } else if (failure == null || !early) {
                arm();
            }
        }
    }
}

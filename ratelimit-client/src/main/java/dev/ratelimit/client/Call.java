package dev.ratelimit.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Reservation;
import dev.ratelimit.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * One call: attempts until it is admitted, then is sent and answered, and ends when the response is complete. What it
 * took is given back exactly once: everything if it is not sent, and permits of concurrency policies when it ends.
 * Thread-safe, because a subscriber may cancel at any time.
 */
final class Call {

    private enum State {
        WAITING,
        ADMITTED,
        SENT,
        /** What the server says is being written to the store. */
        ANSWERING,
        ANSWERED,
        ENDED
    }

    private final ClientLimits limits;
    private final OutgoingRequest request;
    private final @Nullable String server;
    private final Set<String> around;
    private final List<Charge> charges;
    private final long deadline;

    @GuardedBy("this")
    private State state = State.WAITING;

    @GuardedBy("this")
    private @Nullable Reservation reservation;

    @GuardedBy("this")
    private long sentNanos;

    /**
     * Creates a call.
     *
     * @param around the servers to which calls are under way that wait for this one
     */
    Call(ClientLimits limits, OutgoingRequest request, @Nullable String server, Set<String> around, long deadline) {
        this.limits = limits;
        this.request = request;
        this.server = server;
        this.around = around;
        this.charges = limits.charges(request, server);
        this.deadline = deadline;
    }

    /** The servers to which calls are under way that wait for those that are sent within this one. */
    Set<String> within() {
        if (server == null || counted()) {
            return around;
        }
        return Stream.concat(around.stream(), Stream.of(server)).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether a call to the same server waits for this one, and so already counts as under way. */
    private boolean counted() {
        return server != null && around.contains(server);
    }

    /**
     * Takes the permits, or tells how long to wait before the next attempt.
     *
     * @return 0 if the call may be sent, otherwise the wait in nanoseconds
     * @throws CallNotSentException if it cannot be sent in time
     */
    long attempt() {
        if (server != null && !counted() && !limits.inFlight().enter(server)) {
            return within(0, ClientLimits.poll(), null);
        }
        Reservation taken = null;
        boolean admitted = false;
        try {
            taken = Reservation.of(limits.store(), limits.store().decide(charges));
            Decision decision = taken.decision();
            long pause = limits.pauses().leftNanos(decision);
            admitted = taken.admitted() && pause == 0;
            if (admitted) {
                admit(taken);
                return 0;
            }
            long wait = exactWait(decision);
            return pause > wait
                    ? within(pause, limits.jitter(), null)
                    : within(wait, wait == 0 ? ClientLimits.poll() : 0, decision);
        } finally {
            if (!admitted) {
                giveBack(taken);
            }
        }
    }

    /** Until the limits of rates admit it; 0 if only calls under way are in its way, which nobody knows the end of. */
    private static long exactWait(Decision decision) {
        return decision.violated().stream()
                .filter(status -> !status.policy().concurrency())
                .mapToLong(LimitStatus::retryAfterNanos)
                .max()
                .orElse(0);
    }

    private void giveBack(@Nullable Reservation taken) {
        leave();
        if (taken != null) {
            taken.refund();
        }
    }

    private void leave() {
        if (server != null && !counted()) {
            limits.inFlight().leave(server);
        }
    }

    /**
     * The wait with as much of what is added as fits before the deadline.
     *
     * @param decision refused, {@code null} if the server holds the call back
     */
    private long within(long wait, long added, @Nullable Decision decision) {
        long left = deadline - limits.ticker().nanos();
        if (wait > left || left <= 0) {
            throw notSent(wait, decision);
        }
        return Math.max(1, wait + Math.min(added, left - wait));
    }

    private CallNotSentException notSent(long wait, @Nullable Decision decision) {
        List<LimitStatus> violated = decision == null ? List.of() : decision.violated();
        String policy = violated.isEmpty()
                ? ClientLimits.SERVER
                : violated.get(0).policy().name();
        Duration after = wait == 0 || wait == LimitAlgorithm.NEVER ? null : Duration.ofNanos(wait);
        String reason = decision != null
                ? "policy '" + policy + "' " + promise(wait)
                : after == null
                        ? "the server admits fewer calls at once"
                        : "the server has asked to wait for another " + shown(wait);
        return new CallNotSentException(
                request + " was not sent: " + reason + ", but a call waits at most " + limits.maxWait()
                        + " (maxWait). Try again later, or let calls wait longer",
                policy,
                after);
    }

    private static String promise(long wait) {
        return wait == 0
                ? "has all its permits under way"
                : wait == LimitAlgorithm.NEVER ? "cannot admit it" : "would admit it in " + shown(wait);
    }

    private static Duration shown(long nanos) {
        return Duration.ofMillis(Pauses.millis(nanos));
    }

    private void admit(Reservation taken) {
        synchronized (this) {
            if (state == State.WAITING) {
                state = State.ADMITTED;
                reservation = taken;
                return;
            }
        }
        giveBack(taken);
    }

    /** The call is about to leave. */
    synchronized void send() {
        if (state == State.ADMITTED) {
            state = State.SENT;
            sentNanos = limits.ticker().nanos();
        }
    }

    /**
     * Obeys what the server says about its own limits. A store that does not answer is no reason to lose the response.
     *
     * @return whether permits are held until the response is complete; not if the call has ended meanwhile
     */
    boolean answered(int status, HttpHeaders headers) {
        long sent;
        synchronized (this) {
            if (state != State.SENT) {
                return false;
            }
            state = State.ANSWERING;
            sent = sentNanos;
        }
        if (server != null) {
            ServerFields fields = fields(status, headers);
            long pause = fields.pauseSeconds();
            try {
                if (pause > 0) {
                    limits.pauses().pause(server, pause);
                }
            } catch (StoreUnavailableException e) {
                // the next response says it again
            } finally {
                limits.bound(server, fields, sent);
                leave();
            }
        }
        return holds();
    }

    private ServerFields fields(int status, HttpHeaders headers) {
        long now = limits.ticker().epochNanos();
        return ServerFields.of(status, headers, Instant.ofEpochSecond(0, now));
    }

    private synchronized boolean holds() {
        if (state == State.ENDED) {
            return false;
        }
        state = State.ANSWERED;
        return reservation != null
                && reservation.decision().charges().stream()
                        .anyMatch(charge -> charge.policy().concurrency());
    }

    /**
     * The response is complete, or there will be none. Idempotent. What the store is to take back needs no thread of the
     * caller's, so nothing that refuses work can keep it.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // a store that fails is no reason to lose the response
    void end() {
        State ended;
        Reservation taken;
        synchronized (this) {
            ended = state;
            state = State.ENDED;
            taken = reservation;
        }
        if (taken == null || ended == State.ENDED) {
            return;
        }
        if (ended == State.ADMITTED || ended == State.SENT) {
            leave();
        }
        if (ended == State.ADMITTED) {
            taken.refundAsync();
        } else {
            taken.releaseAsync();
        }
    }
}

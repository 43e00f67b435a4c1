package dev.ratelimit.spring.servlet.settlement;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Reservation;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.recording.RequestRecording.Arrival;
import dev.ratelimit.spring.rules.recording.RequestRecording.Passing;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/**
 * The way of a request through the filters, from the first of them until the request is complete, and the only owner of its
 * end. Then, once each, however it ends:
 *
 * <ul>
 *   <li>it is counted as admitted, unless it was refused;
 *   <li>it is settled, as soon as the status of its response is final: when the response is committed, or else when everything
 *       has ended normally. The permits that are free for that status are refunded, and for each status that it has replaced
 *       because of the request's headers or on an error page. A request that ends in another way, or never, stays charged;
 *   <li>the permits of concurrency limits come back: after the filter chain or, if the request continues asynchronously, when
 *       the server completes it or the client is gone. If a server never says so, they come back after {@code max-hold};
 *   <li>it is recorded.
 * </ul>
 *
 * <p>Kept in an attribute of the request. Thread-safe.
 */
public final class Passage implements AsyncListener, WatchedResponse.Watcher {

    private static final String ATTRIBUTE = Passage.class.getName();

    /** As the first filter has it. */
    private final HttpServletResponse response;

    /** Whether it has begun at the outermost filter, which ends each of its dispatches. */
    private final boolean outermost;

    /** {@code null} if requests are not recorded. */
    private final @Nullable RequestRecording recording;

    private final @Nullable Arrival arrival;

    /** Whether the record of the request has begun. */
    private volatile boolean recorded;

    /** What is still to be recorded; {@code null} if nothing is, or not yet. */
    private @Nullable Passing passing;

    /** Whether the server will tell when the asynchronous phase is complete. */
    private volatile boolean listening;

    private volatile @Nullable ChargedRequest charged;

    /** The stages that have admitted or refused the request. */
    private final List<String> passed = new CopyOnWriteArrayList<>();

    /** As the handler has it; {@code null} until the request is admitted. */
    private volatile @Nullable HttpServletResponse answer;

    /** Whether all that sets the status of the response is seen. */
    private volatile boolean statusWatched;

    /** Whether a charge depends on the status. */
    private volatile boolean settles;

    private final List<Integer> replaced = new CopyOnWriteArrayList<>();

    /** Whether an error was sent whose page may change the status. */
    private volatile boolean errorSent;

    /**
     * Whether a redirect was sent; some servers then call the response committed, but turn it into a 500 if an
     * exception follows.
     */
    private volatile boolean redirectSent;

    private boolean clientLost;

    /** Whether the filter chain has returned, so that the request continues asynchronously. */
    private boolean returned;

    private Passage(HttpServletResponse response, boolean outermost, @Nullable RequestRecording recording) {
        this.response = response;
        this.outermost = outermost;
        this.recording = recording;
        this.arrival = recording == null ? null : recording.arrive();
    }

    /**
     * Begins the way of a request at its outermost filter.
     *
     * @param recording {@code null} if requests are not recorded
     */
    public static Passage begin(
            HttpServletRequest request, HttpServletResponse response, @Nullable RequestRecording recording) {
        return keep(request, new Passage(response, true, recording));
    }

    /** The way of a request at a filter of limits; begins here if an application has registered this filter alone. */
    public static Passage at(HttpServletRequest request, HttpServletResponse response) {
        Passage known = of(request);
        return known == null ? keep(request, new Passage(response, false, null)) : known;
    }

    private static Passage keep(HttpServletRequest request, Passage passage) {
        request.setAttribute(ATTRIBUTE, passage);
        return passage;
    }

    /** The way of a request; {@code null} if it has passed no filter. */
    public static @Nullable Passage of(ServletRequest request) {
        return (Passage) request.getAttribute(ATTRIBUTE);
    }

    /** What a request was charged so far; {@code null} for nothing. */
    public static @Nullable ChargedRequest chargedOf(ServletRequest request) {
        Passage passage = of(request);
        return passage == null ? null : passage.charged;
    }

    /** Whether it has begun at the outermost filter, which ends each of its dispatches, so that no other filter has to. */
    public boolean isOutermost() {
        return outermost;
    }

    /** The response as all other filters see it if charges may depend on its status. */
    public HttpServletResponse watchStatus(HttpServletResponse server) {
        statusWatched = true;
        return WatchedResponse.watch(server, this);
    }

    /** What the request was charged so far; {@code null} for nothing. */
    public @Nullable ChargedRequest charged() {
        return charged;
    }

    /** Keeps what the request was charged at a stage, which it has passed unless it waits there. */
    public void keep(ChargedRequest request, String stage) {
        charged = request;
        if (!request.isWaiting()) {
            passed.add(stage);
        }
    }

    /** Whether a stage has admitted or refused the request before: a filter in front runs the rest of the chain again. */
    public boolean hasPassed(String stage) {
        return passed.contains(stage);
    }

    /** The response to the request, on whichever thread it is handled; {@code null} until it is admitted. */
    public @Nullable HttpServletResponse answer() {
        return answer;
    }

    /** Keeps the response as the handler has it. */
    public void answerBy(HttpServletResponse shown) {
        answer = shown;
    }

    /** Covers what was charged last: its reservation for the handler, and its end by the status. */
    @CanIgnoreReturnValue
    public @Nullable Reservation cover(HttpServletRequest request, ChargedRequest admitted) {
        settles |= statusWatched && admitted.dependsOnStatus();
        Reservation reservation = admitted.reservation();
        if (reservation != null) {
            request.setAttribute(Reservation.class.getName(), reservation);
        }
        return reservation;
    }

    /** The response, watched if an admitted request holds permits or may do so when its handler is called. */
    public HttpServletResponse watched(HttpServletResponse shown, ChargedRequest admitted) {
        return mayHold(admitted) ? WatchedResponse.watch(shown, this) : shown;
    }

    /** The request as the rest of the filter chain sees it. */
    public static HttpServletRequest shown(HttpServletRequest request, ChargedRequest admitted) {
        return mayHold(admitted) ? HeldRequest.of(request) : request;
    }

    /** Whether it holds permits, or may when its handler is called. For others, servers would look for attributes in vain. */
    private static boolean mayHold(ChargedRequest admitted) {
        return admitted.holds() || admitted.callFollows();
    }

    /**
     * Reports the start of the error page, after {@code sendError} or an exception. A static page may answer with 200
     * or 206.
     */
    public void enterErrorPage(HttpServletRequest request) {
        if (request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer status) {
            replaced.add(status);
        }
        errorSent = false;
    }

    /**
     * Ends a dispatch. If nothing follows, the request is complete.
     *
     * @param normally whether it has returned, and not thrown
     * @param errorPageFollows whether the server dispatches errors that were sent to a page
     */
    public void leave(HttpServletRequest request, boolean normally, boolean errorPageFollows) {
        ChargedRequest now = charged;
        if (now == null) {
            return;
        }
        boolean first = false;
        boolean later = false;
        try {
            now.countAdmitted();
            first = record(now);
            later = request.isAsyncStarted() && listensTo(now) && listen(request, now);
        } finally {
            try {
                if (!later && now.holds() && !now.isWaiting()) {
                    now.release();
                }
            } finally {
                settle(request, normally, later, errorPageFollows);
                // Jetty tells nobody of an exception after the commit
                if (!later && (first || (!normally && isStatusSent()))) {
                    end(status(normally));
                }
            }
        }
    }

    /** Begins the record of a request at its first dispatch; returns {@code false} at others, or if requests are not recorded. */
    private boolean record(ChargedRequest now) {
        if (recording == null || arrival == null || recorded) {
            return false;
        }
        Passing begun = recording.pass(arrival, now);
        synchronized (this) {
            passing = begun;
        }
        recorded = true;
        return true;
    }

    /** The status of the answer, as far as it is known when a dispatch ends or fails. */
    private int status(boolean normally) {
        return normally || isStatusSent() ? response.getStatus() : HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
    }

    /** Records the request, once. */
    private void end(int status) {
        Passing ended;
        synchronized (this) {
            ended = passing;
            passing = null;
        }
        if (ended != null) {
            ended.complete(status);
        }
    }

    private boolean listensTo(ChargedRequest now) {
        return settles || now.holds() || recorded;
    }

    /** Returns whether the server will tell when the request is complete. */
    private boolean listen(HttpServletRequest request, ChargedRequest now) {
        try {
            if (!listening) {
                request.getAsyncContext().addListener(this);
                listening = true;
            }
        } catch (IllegalStateException completedMeanwhile) {
            return false;
        }
        if (!now.isWaiting() && lost(false, true)) {
            // the server has closed the connection, and may never complete the request
            release();
        }
        return true;
    }

    private void settle(HttpServletRequest request, boolean normally, boolean later, boolean errorPageFollows) {
        if (!settles) {
            return;
        }
        if (!normally || (request.isAsyncStarted() && !later)) {
            fail();
        } else if (errorSent && request.getAttribute(RequestDispatcher.ERROR_EXCEPTION) != null) {
            close();
        } else if (!later && (!errorSent || !errorPageFollows)) {
            settle();
        }
    }

    /** The status is unknown, unless it is already sent. */
    private void fail() {
        settleIfCommitted();
        close();
    }

    /** Its status is final when the response is committed. */
    private void settleIfCommitted() {
        if (settles && isStatusSent()) {
            settle();
        }
    }

    private boolean isStatusSent() {
        return !errorSent && !redirectSent && isCommitted();
    }

    private boolean isCommitted() {
        try {
            return response.isCommitted();
        } catch (RuntimeException takenBack) {
            // the server may already use the response for another request
            close();
            return false;
        }
    }

    private void settle() {
        ChargedRequest now = charged;
        if (settles && now != null) {
            List<Integer> statuses = new ArrayList<>(replaced);
            statuses.add(response.getStatus());
            now.settle(statuses);
        }
    }

    /** Makes the charges final. */
    private void close() {
        ChargedRequest now = charged;
        if (settles && now != null) {
            now.close();
        }
    }

    private void release() {
        ChargedRequest now = charged;
        if (now != null && now.holds()) {
            now.release();
        }
    }

    @Override
    public boolean watchesWrites() {
        return true;
    }

    /** The response may have a status that request headers replace. */
    @Override
    public void beforeStatus(int status) {
        if (ChargedRequest.mayStandForAnother(status) && response.getStatus() != HttpServletResponse.SC_OK) {
            replaced.add(response.getStatus());
        }
    }

    /**
     * The status is not final: an error page of the application may use another. An interim response, such as 103, is no
     * error: the final response follows.
     */
    @Override
    public void afterError(int status) {
        if (HttpStatus.Series.resolve(status) != HttpStatus.Series.INFORMATIONAL) {
            errorSent = true;
        }
    }

    @Override
    public void afterRedirect() {
        redirectSent = true;
    }

    /**
     * The response may be committed. A write fails because the client is gone; some servers then never report the end. Work on
     * the request's own thread still ends with that thread.
     */
    @Override
    public void written(boolean failed) {
        settleIfCommitted();
        if (failed && lost(true, false)) {
            release();
        }
    }

    private synchronized boolean lost(boolean client, boolean chain) {
        clientLost |= client;
        returned |= chain;
        return clientLost && returned;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        try {
            if (!errorSent) {
                settle();
            }
        } finally {
            release();
            end(response.getStatus());
        }
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // the response that answers it has the status, and completion follows
    }

    /** The client is gone, or the application cannot answer any more. */
    @Override
    public void onError(AsyncEvent event) {
        try {
            fail();
        } finally {
            release();
            end(status(false));
        }
    }

    /** Another asynchronous phase begins; servers forget the listeners of the one before. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        listening = false;
        event.getAsyncContext().addListener(this);
        listening = true;
    }
}

package dev.ratelimit.spring.servlet.settlement;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Returns the permits of concurrency limits when a request is complete: after the filter chain or, if the request
 * continues asynchronously, when the server completes it, however it ends, or when the client is gone. If a server never
 * says so, the permits come back after {@code max-hold}.
 *
 * <p>Kept in an attribute of the request. Thread-safe.
 */
public final class HeldPermits implements AsyncListener, WatchedResponse.Watcher {

    private static final String ATTRIBUTE = HeldPermits.class.getName();

    private final ChargedRequest charged;
    private boolean clientLost;

    /** Whether the filter chain has returned, so that the request continues asynchronously. */
    private boolean returned;

    private HeldPermits(ChargedRequest charged) {
        this.charged = charged;
    }

    /** The response of a request that holds permits or may do so when its handler is called; otherwise the same. */
    public static HttpServletResponse watched(
            HttpServletRequest request, HttpServletResponse response, ChargedRequest charged) {
        if (!mayHold(charged) || request.getAttribute(ATTRIBUTE) != null) {
            return response;
        }
        HeldPermits held = new HeldPermits(charged);
        request.setAttribute(ATTRIBUTE, held);
        return WatchedResponse.watch(response, held);
    }

    /** The request as the rest of the filter chain sees it, after {@link #watched}. */
    public static HttpServletRequest shown(HttpServletRequest request, ChargedRequest charged) {
        return mayHold(charged) ? HeldRequest.of(request) : request;
    }

    /** Whether it holds permits, or may when its handler is called. For others, servers would look for attributes in vain. */
    private static boolean mayHold(ChargedRequest charged) {
        return charged.holds() || charged.callFollows();
    }

    /** Releases the permits of a request now, or when it is complete. Called when the filter chain has returned. */
    public static void releaseAfter(HttpServletRequest request, ChargedRequest charged) {
        if (!charged.holds()) {
            return;
        }
        boolean later = false;
        try {
            later = request.isAsyncStarted()
                    && request.getAttribute(ATTRIBUTE) instanceof HeldPermits held
                    && held.listenTo(request);
        } finally {
            if (!later) {
                charged.release();
            }
        }
    }

    /** Returns whether the server will tell when the request is complete. */
    private boolean listenTo(HttpServletRequest request) {
        try {
            request.getAsyncContext().addListener(this);
        } catch (IllegalStateException completedMeanwhile) {
            return false;
        }
        leave();
        return true;
    }

    @Override
    public boolean watchesWrites() {
        return true;
    }

    /**
     * A write fails because the client is gone; some servers then never report the end. Work on the request's own thread
     * still ends with that thread.
     */
    @Override
    public void written(boolean failed) {
        if (failed && lost(true, false)) {
            charged.release();
        }
    }

    /** Reports that the filter chain has returned. */
    private void leave() {
        if (lost(false, true)) {
            // the server has closed the connection, and may never complete the request
            charged.release();
        }
    }

    private synchronized boolean lost(boolean client, boolean chain) {
        clientLost |= client;
        returned |= chain;
        return clientLost && returned;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        charged.release();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // completion follows
    }

    /** The client is gone, or the application cannot answer any more. */
    @Override
    public void onError(AsyncEvent event) {
        charged.release();
    }

    /** Another asynchronous phase begins; servers forget the listeners of the one before. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}

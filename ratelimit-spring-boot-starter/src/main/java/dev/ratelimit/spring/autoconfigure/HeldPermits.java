package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.ChargedRequest;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Returns the permits of concurrency limits when a request is complete: after the filter chain or, if the request
 * continues asynchronously, when the server completes it, however it ends. If a server never says so, the permits come
 * back after {@code max-hold}.
 */
final class HeldPermits implements AsyncListener {

    private final ChargedRequest charged;

    private HeldPermits(ChargedRequest charged) {
        this.charged = charged;
    }

    /** Releases the permits of a request now, or when it is complete. Called when the filter chain has returned. */
    static void releaseAfter(HttpServletRequest request, ChargedRequest charged) {
        if (!charged.holds()) {
            return;
        }
        if (!request.isAsyncStarted()) {
            charged.release();
            return;
        }
        try {
            request.getAsyncContext().addListener(new HeldPermits(charged));
        } catch (IllegalStateException completedMeanwhile) {
            charged.release();
        }
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

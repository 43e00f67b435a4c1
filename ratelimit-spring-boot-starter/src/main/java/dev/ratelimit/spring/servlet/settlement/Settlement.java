package dev.ratelimit.spring.servlet.settlement;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Settles a request as soon as the status of its response is final: when the response is committed, or else when
 * everything has ended normally. Refunds the permits that are free for that status, and for each status that it has
 * replaced because of the request's headers or on an error page. A request that ends in another way, or never, stays
 * charged.
 *
 * <p>Kept in an attribute of the request. Thread-safe.
 */
public final class Settlement implements AsyncListener {

    private static final String ATTRIBUTE = Settlement.class.getName();

    private final HttpServletResponse response;
    private final List<Integer> replaced = new CopyOnWriteArrayList<>();
    private volatile @Nullable ChargedRequest charged;

    /** Whether an error was sent whose page may change the status. */
    private volatile boolean errorSent;

    /**
     * Whether a redirect was sent; some servers then call the response committed, but turn it into a 500 if an
     * exception follows.
     */
    private volatile boolean redirectSent;

    private Settlement(HttpServletResponse response) {
        this.response = response;
    }

    /** Starts the settlement of a request; {@code null} if it has already started. */
    static @Nullable Settlement begin(HttpServletRequest request, HttpServletResponse response) {
        if (of(request) != null) {
            return null;
        }
        Settlement settlement = new Settlement(response);
        request.setAttribute(ATTRIBUTE, settlement);
        return settlement;
    }

    static @Nullable Settlement of(HttpServletRequest request) {
        return (Settlement) request.getAttribute(ATTRIBUTE);
    }

    /** Sets the charges to settle. */
    public static void cover(HttpServletRequest request, ChargedRequest charged) {
        Settlement settlement = charged.dependsOnStatus() ? of(request) : null;
        if (settlement != null) {
            settlement.charged = charged;
        }
    }

    /** Reports that an error is sent. The status is not final: an error page of the application may use another. */
    void sendError() {
        errorSent = true;
    }

    /** Reports that a redirect is sent. */
    void sendRedirect() {
        redirectSent = true;
    }

    /** Reports that the response had this status, and now has one that request headers can cause. */
    void replace(int status) {
        replaced.add(status);
    }

    /**
     * Reports the start of the error page, after {@code sendError} or an exception. A static page may answer with 200
     * or 206.
     */
    void enterErrorPage(HttpServletRequest request) {
        if (request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer status) {
            replace(status);
        }
        errorSent = false;
    }

    /** Reports that a dispatch has returned. */
    void leave(HttpServletRequest request, boolean errorPageFollows) {
        if (errorSent && request.getAttribute(RequestDispatcher.ERROR_EXCEPTION) != null) {
            close();
        } else if (request.isAsyncStarted()) {
            listen(request);
        } else if (!errorSent || !errorPageFollows) {
            settle();
        }
    }

    /** Reports that a dispatch has thrown an exception: the status is unknown, unless it is already sent. */
    void fail() {
        settleIfCommitted();
        close();
    }

    private void listen(HttpServletRequest request) {
        try {
            request.getAsyncContext().addListener(this);
        } catch (IllegalStateException completedMeanwhile) {
            fail();
        }
    }

    /** Reports that the response may be committed; its status is then final. */
    void settleIfCommitted() {
        if (!errorSent && !redirectSent && isCommitted()) {
            settle();
        }
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
        ChargedRequest covered = charged;
        if (covered != null) {
            List<Integer> statuses = new ArrayList<>(replaced);
            statuses.add(response.getStatus());
            covered.settle(statuses);
        }
    }

    /** Makes the charges final. */
    private void close() {
        ChargedRequest covered = charged;
        if (covered != null) {
            covered.close();
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        if (!errorSent) {
            settle();
        }
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // the response that answers it has the status
    }

    @Override
    public void onError(AsyncEvent event) {
        fail();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        // the dispatch that starts it registers this listener again when it returns
    }
}

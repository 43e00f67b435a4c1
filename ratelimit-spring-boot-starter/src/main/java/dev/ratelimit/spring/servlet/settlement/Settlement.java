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
import org.springframework.http.HttpStatus;

/**
 * Settles a request as soon as the status of its response is final: when the response is committed, or else when
 * everything has ended normally. Refunds the permits that are free for that status, and for each status that it has
 * replaced because of the request's headers or on an error page. A request that ends in another way, or never, stays
 * charged.
 *
 * <p>Kept in an attribute of the request. Thread-safe.
 */
public final class Settlement implements AsyncListener, WatchedResponse.Watcher {

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

    /** The response may be committed, also by a failed write; the client is then gone. */
    @Override
    public void written(boolean failed) {
        settleIfCommitted();
    }

    /**
     * Reports the start of the error page, after {@code sendError} or an exception. A static page may answer with 200
     * or 206.
     */
    void enterErrorPage(HttpServletRequest request) {
        if (request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer status) {
            replaced.add(status);
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

    /** Its status is final when the response is committed. */
    private void settleIfCommitted() {
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

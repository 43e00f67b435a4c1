package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.ChargedRequest;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request that waits without a thread. When its wait is over, the server dispatches it again, to the filter where it
 * waits.
 */
final class ParkedRequest implements AsyncListener {

    private static final Logger log = LoggerFactory.getLogger(ParkedRequest.class);
    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final String ATTRIBUTE = ParkedRequest.class.getName();

    private final ServletWebRequest web;
    private final ChargedRequest charged;
    private final long timeoutMillis;

    private ParkedRequest(ServletWebRequest web, ChargedRequest charged, long timeoutMillis) {
        this.web = web;
        this.charged = charged;
        this.timeoutMillis = timeoutMillis;
    }

    /** Whether a request can be parked. If a filter or servlet does not support it, a warning says so once. */
    static boolean isPossible(HttpServletRequest request) {
        boolean possible = request.isAsyncSupported();
        if (!possible && WARNED.compareAndSet(false, true)) {
            log.warn(
                    "Requests such as {} {} cannot wait for their permits, so they are refused at once: a filter or servlet"
                            + " does not support asynchronous requests (async-supported). This is logged once",
                    request.getMethod(),
                    request.getRequestURI());
        }
        return possible;
    }

    /** Parks a request. Its thread must not use it any more. */
    static void park(ServletWebRequest web, HttpServletResponse response, ChargedRequest charged) {
        HttpServletRequest request = web.request();
        charged.keepCaller(request::setAttribute);
        // with what other filters have wrapped around them
        AsyncContext context = request.startAsync(request, response);
        ParkedRequest parked = new ParkedRequest(web, charged, context.getTimeout());
        request.setAttribute(ATTRIBUTE, parked);
        // the wait ends by itself
        context.setTimeout(0);
        context.addListener(parked);
        charged.whenOver(() -> parked.dispatch(context));
    }

    /** The request that has waited. */
    static ParkedRequest of(HttpServletRequest request) {
        return (ParkedRequest) Objects.requireNonNull(request.getAttribute(ATTRIBUTE));
    }

    /** Throws what reading the request has failed with before it was parked. */
    void rethrowFailure() {
        web.rethrowFailure();
    }

    /** The time-out of asynchronous requests before this one was parked. */
    long timeoutMillis() {
        return timeoutMillis;
    }

    private void dispatch(AsyncContext context) {
        try {
            context.dispatch();
        } catch (IllegalStateException clientLeft) {
            charged.leave();
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        charged.leave();
    }

    @Override
    public void onError(AsyncEvent event) {
        charged.leave();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // there is none
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        // the request goes on, and may wait again or be handled asynchronously
    }
}

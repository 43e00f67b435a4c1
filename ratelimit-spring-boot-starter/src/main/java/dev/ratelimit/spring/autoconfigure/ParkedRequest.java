package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.ChargedRequest;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;

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

    private final String uri;
    private final String url;

    /** Where to dispatch it; {@code null} if the server knows. */
    private final @Nullable String path;

    private ParkedRequest(ServletWebRequest web, ChargedRequest charged, long timeoutMillis) {
        this.web = web;
        this.uri = web.request().getRequestURI();
        this.url = web.request().getRequestURL().toString();
        this.path = rewritten(web.request());
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
        return possible && !isUpgrade(request);
    }

    /**
     * Whether the connection is to change to another protocol, such as WebSocket, which servers do not do for an
     * asynchronous dispatch. An upgrade to HTTP/2 has already been made, or is not going to be.
     */
    private static boolean isUpgrade(HttpServletRequest request) {
        String protocol = request.getHeader(HttpHeaders.UPGRADE);
        return protocol != null && !protocol.strip().equalsIgnoreCase("h2c");
    }

    /** Parks a request. Its thread must not use it any more. If that fails, it does not wait any more. */
    static void park(ServletWebRequest web, HttpServletResponse response, ChargedRequest charged) {
        try {
            start(web, response, charged);
        } catch (RuntimeException | Error e) {
            charged.leave();
            throw e;
        }
    }

    private static void start(ServletWebRequest web, HttpServletResponse response, ChargedRequest charged) {
        HttpServletRequest request = web.request();
        charged.keepCaller(request::setAttribute);
        // with what other filters have wrapped around them
        AsyncContext context = request.startAsync(request, response);
        try {
            ParkedRequest parked = new ParkedRequest(web, charged, context.getTimeout());
            request.setAttribute(ATTRIBUTE, parked);
            // the wait ends by itself
            context.setTimeout(0);
            context.addListener(parked);
            charged.whenOver(() -> parked.dispatch(context));
        } catch (RuntimeException | Error e) {
            // otherwise a server that stops would wait for this request
            complete(context, e);
            throw e;
        }
    }

    private static void complete(AsyncContext context, Throwable failure) {
        try {
            context.complete();
        } catch (RuntimeException ended) {
            failure.addSuppressed(ended);
        }
    }

    /** The request that has waited. */
    static ParkedRequest of(HttpServletRequest request) {
        return (ParkedRequest) Objects.requireNonNull(request.getAttribute(ATTRIBUTE));
    }

    /**
     * The path that the client has requested, if a filter has wrapped the request and shows another, such as one with the
     * prefix of a proxy. Servers dispatch to the latter, and choose the filters by it.
     */
    private static @Nullable String rewritten(HttpServletRequest request) {
        ServletRequest inside = request;
        while (inside instanceof ServletRequestWrapper wrapper) {
            inside = wrapper.getRequest();
        }
        if (!(inside instanceof HttpServletRequest raw) || raw.getRequestURI().equals(request.getRequestURI())) {
            return null;
        }
        String context = raw.getContextPath();
        return raw.getRequestURI().startsWith(context) ? raw.getRequestURI().substring(context.length()) : null;
    }

    /** Throws what reading the request has failed with before it was parked. */
    void rethrowFailure() {
        web.rethrowFailure();
    }

    /** Whether a filter shows another path than the client has requested. */
    boolean isRewritten() {
        return path != null;
    }

    /** The URI that filters and handlers see. */
    String uri() {
        return uri;
    }

    /** The URL that filters and handlers see. */
    String url() {
        return url;
    }

    /** The time-out of asynchronous requests before this one was parked. */
    long timeoutMillis() {
        return timeoutMillis;
    }

    private void dispatch(AsyncContext context) {
        try {
            if (path == null) {
                context.dispatch();
            } else {
                context.dispatch(path);
            }
        } catch (RuntimeException | Error e) {
            // an IllegalStateException: the client has left
            charged.leave();
            end(context, e);
        }
    }

    /** Ends a request that the server does not dispatch, unless the server has ended it. */
    private void end(AsyncContext context, Throwable failure) {
        try {
            if (context.getResponse() instanceof HttpServletResponse response && !response.isCommitted()) {
                response.setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
            }
            context.complete();
        } catch (RuntimeException ended) {
            if (failure instanceof IllegalStateException) {
                return;
            }
            failure.addSuppressed(ended);
        }
        log.warn("A request that has waited for its permits cannot be handled, and is ended", failure);
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

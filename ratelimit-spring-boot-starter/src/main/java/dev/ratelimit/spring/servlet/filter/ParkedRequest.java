package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.request.CurrentCaller;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;

/**
 * A request that waits without a thread. When its wait is over, the server dispatches it again, to the filter where it
 * waits, and it goes on as the request that came: further filters and the handler, which have not seen it yet, do not take
 * it for an asynchronous result.
 */
final class ParkedRequest implements AsyncListener {

    private static final Logger log = LoggerFactory.getLogger(ParkedRequest.class);
    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final String ATTRIBUTE = ParkedRequest.class.getName();

    /** What servers add for a dispatch, and some of them to the request itself. */
    private static final List<String> DISPATCH_ATTRIBUTES = List.of(
            AsyncContext.ASYNC_REQUEST_URI,
            AsyncContext.ASYNC_CONTEXT_PATH,
            AsyncContext.ASYNC_MAPPING,
            AsyncContext.ASYNC_PATH_INFO,
            AsyncContext.ASYNC_SERVLET_PATH,
            AsyncContext.ASYNC_QUERY_STRING);

    private final ServletWebRequest web;
    private final ChargedRequest charged;
    private final AsyncContext context;

    /** The time-out of asynchronous requests before this one was parked. */
    private final long timeoutMillis;

    /** The request, what it wraps, and so on, up to that of the server. */
    private final List<ServletRequest> layers;

    /** Where to dispatch it; {@code null} if the server knows. */
    private final @Nullable String path;

    private ParkedRequest(ServletWebRequest web, ChargedRequest charged, AsyncContext context) {
        this.web = web;
        this.charged = charged;
        this.context = context;
        this.timeoutMillis = context.getTimeout();
        this.layers = layers(web.request());
        this.path = rewritten(web.request(), layers.get(layers.size() - 1));
    }

    private static List<ServletRequest> layers(ServletRequest request) {
        List<ServletRequest> layers = new ArrayList<>(List.of(request));
        ServletRequest inside = request;
        while (inside instanceof ServletRequestWrapper wrapper) {
            inside = wrapper.getRequest();
            layers.add(inside);
        }
        return layers;
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
        CurrentCaller.keep(request::setAttribute);
        // with what other filters have wrapped around them
        AsyncContext context = request.startAsync(request, response);
        try {
            ParkedRequest parked = new ParkedRequest(web, charged, context);
            request.setAttribute(ATTRIBUTE, parked);
            // the wait ends by itself
            context.setTimeout(0);
            context.addListener(parked);
            charged.whenOver(parked::dispatch);
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

    /**
     * The path that the client has requested, if a filter has wrapped the request and shows another, such as one with the
     * prefix of a proxy. Servers dispatch to the latter, and choose the filters by it.
     */
    private static @Nullable String rewritten(HttpServletRequest request, ServletRequest innermost) {
        if (!(innermost instanceof HttpServletRequest raw)
                || raw.getRequestURI().equals(request.getRequestURI())) {
            return null;
        }
        String context = raw.getContextPath();
        return raw.getRequestURI().startsWith(context) ? raw.getRequestURI().substring(context.length()) : null;
    }

    /** The parked request; {@code null} if this one has not been parked, or has been resumed. */
    static @Nullable ParkedRequest of(ServletRequest request) {
        return (ParkedRequest) request.getAttribute(ATTRIBUTE);
    }

    /** Takes out what the server has put between the layers of the request, and returns the outermost. */
    HttpServletRequest restore() {
        for (int i = 0; i < layers.size() - 1; i++) {
            ((ServletRequestWrapper) layers.get(i)).setRequest(layers.get(i + 1));
        }
        return web.request();
    }

    /**
     * Returns the request that has waited, as it was before, with what filters have wrapped around it since.
     *
     * @param dispatched the request as it arrives after the wait
     */
    static HttpServletRequest resume(HttpServletRequest dispatched) {
        ParkedRequest parked = Objects.requireNonNull(of(dispatched));
        HttpServletRequest request = DispatchedRequest.removeFrom(dispatched, parked.web.request());
        request.removeAttribute(ATTRIBUTE);
        DISPATCH_ATTRIBUTES.forEach(request::removeAttribute);
        // some servers keep the time-out of the wait
        parked.context.setTimeout(parked.timeoutMillis);
        parked.web.rethrowFailure();
        return request;
    }

    private void dispatch() {
        try {
            if (path == null) {
                context.dispatch();
            } else {
                context.dispatch(path);
            }
        } catch (RuntimeException | Error e) {
            // an IllegalStateException: the client has left
            charged.leave();
            end(e);
        }
    }

    /** Ends a request that the server does not dispatch, unless the server has ended it. */
    private void end(Throwable failure) {
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
        log.warn("Could not resume a request after its wait, so it was ended", failure);
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

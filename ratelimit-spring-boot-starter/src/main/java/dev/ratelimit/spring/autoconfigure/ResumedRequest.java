package dev.ratelimit.spring.autoconfigure;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * A request that has waited and goes on as if it had just arrived, so that further filters and the handler, which have
 * not seen it yet, do not take it for an asynchronous result.
 */
final class ResumedRequest extends HttpServletRequestWrapper {

    private final ParkedRequest parked;

    /** The path to which the server has dispatched it. */
    private final String dispatched;

    private volatile boolean ended;

    private ResumedRequest(HttpServletRequest request) {
        super(request);
        this.parked = ParkedRequest.of(request);
        this.dispatched = request.getRequestURI();
        parked.rethrowFailure();
    }

    /** The same chain, for a request that has waited. */
    static FilterChain on(FilterChain chain) {
        return (request, response) -> {
            ResumedRequest resumed = new ResumedRequest((HttpServletRequest) request);
            try {
                chain.doFilter(resumed, response);
            } finally {
                // later dispatches, of asynchronous handlers, are what they are
                resumed.ended = true;
            }
        };
    }

    /** Forwards and includes of the handler remain what they are: some servers put them inside this wrapper. */
    @Override
    public DispatcherType getDispatcherType() {
        DispatcherType type = super.getDispatcherType();
        return !ended && type == DispatcherType.ASYNC ? DispatcherType.REQUEST : type;
    }

    /** Some servers show the path of the dispatch instead of that which filters before have set. */
    @Override
    public String getRequestURI() {
        return isRewritten() ? parked.uri() : super.getRequestURI();
    }

    @Override
    public StringBuffer getRequestURL() {
        return isRewritten() ? new StringBuffer(parked.url()) : super.getRequestURL();
    }

    private boolean isRewritten() {
        return !ended && parked.isRewritten() && super.getRequestURI().equals(dispatched);
    }

    /** Some servers keep the time-out of the wait. */
    @Override
    public AsyncContext startAsync() {
        return withTimeout(super.startAsync());
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        return withTimeout(super.startAsync(request, response));
    }

    private AsyncContext withTimeout(AsyncContext context) {
        if (!ended) {
            context.setTimeout(parked.timeoutMillis());
        }
        return context;
    }
}

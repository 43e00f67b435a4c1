package dev.ratelimit.spring.servlet.filter;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * A request on its way back to the filter where it has waited. The filters before that one have seen it, so for them it
 * is an asynchronous dispatch; apart from that, it is the request that was parked, without what the server has put around
 * it or into it for the dispatch. From the filter on, it is that request.
 */
final class DispatchedRequest extends HttpServletRequestWrapper {

    DispatchedRequest(HttpServletRequest parked) {
        super(parked);
    }

    @Override
    public DispatcherType getDispatcherType() {
        return DispatcherType.ASYNC;
    }

    /** Takes itself out of what filters have wrapped around it; {@code parked} if they have replaced it. */
    static HttpServletRequest removeFrom(HttpServletRequest arrived, HttpServletRequest parked) {
        ServletRequestWrapper outside = null;
        ServletRequest inside = arrived;
        while (inside instanceof ServletRequestWrapper wrapper) {
            if (wrapper instanceof DispatchedRequest && outside != null) {
                outside.setRequest(parked);
                return arrived;
            }
            outside = wrapper;
            inside = wrapper.getRequest();
        }
        return parked;
    }
}

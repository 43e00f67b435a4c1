package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A request that holds permits, so that it must be complete when the filter chain returns. Tomcat would send a file after
 * that, by sendfile, to an application that asks whether it can.
 */
final class HeldRequest extends HttpServletRequestWrapper {

    private static final String SENDFILE = "org.apache.tomcat.sendfile.support";

    private HeldRequest(HttpServletRequest request) {
        super(request);
    }

    /** The request without sendfile; the same if its server has none. */
    static HttpServletRequest of(HttpServletRequest request) {
        return Boolean.TRUE.equals(request.getAttribute(SENDFILE)) ? new HeldRequest(request) : request;
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return name.equals(SENDFILE) ? (Object) false : super.getAttribute(name);
    }
}

package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.http.HttpServletResponse;

/** The headers of a response. */
public final class ResponseHeaders {

    private ResponseHeaders() {}

    /** Removes a header from a response that is not committed, as Servlet 6.1 has defined it. */
    public static void remove(HttpServletResponse response, String name) {
        response.setHeader(name, null);
    }
}

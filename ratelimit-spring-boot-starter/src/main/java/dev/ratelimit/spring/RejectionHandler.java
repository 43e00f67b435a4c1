package dev.ratelimit.spring;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers refused requests; a bean of this type takes the place of the problem details. Called by many threads at once.
 */
@FunctionalInterface
public interface RejectionHandler {

    /**
     * Writes the answer. The status, {@code Retry-After}, {@code Cache-Control} and {@code RateLimit} are set already, and
     * may be changed. Do not call {@code sendError}: the error dispatch passes Spring Security, which may answer 401.
     *
     * @param response not committed yet
     */
    void handle(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException, ServletException;
}

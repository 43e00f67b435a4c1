package dev.ratelimit.spring;

import java.io.IOException;

/**
 * Writes the responses to refused requests. A bean of this type replaces the problem details. Called by many threads at
 * once.
 */
@FunctionalInterface
public interface RejectionHandler {

    /**
     * Writes the response. The status, {@code Retry-After}, {@code Cache-Control} and {@code RateLimit} are already set
     * and may be changed. To render the response with the web stack, such as a view of the application, unwrap request
     * and response. Do not call {@code sendError}: its error dispatch passes through Spring Security, which may answer
     * 401.
     *
     * @param request the refused request
     * @param response not committed yet
     * @param rejection why the request was refused, and when to retry
     * @throws IOException if the response cannot be written
     */
    void handle(WebRequest request, WebResponse response, Rejection rejection) throws IOException;
}

package dev.ratelimit.spring.web;

import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RejectionBody;
import dev.ratelimit.spring.RejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Answers with problem details (RFC 9457), whatever the request accepts; or with plain text, or with nothing. */
public final class ProblemRejectionHandler implements RejectionHandler {

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private final RejectionBody body;

    /** Answers of this kind. */
    public ProblemRejectionHandler(RejectionBody body) {
        this.body = body;
    }

    @Override
    public void handle(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        switch (body) {
            case PROBLEM -> write(response, "application/problem+json", problem(rejection));
            case TEXT -> write(response, "text/plain;charset=UTF-8", rejection.detail() + "\n");
            case NONE -> response.setContentLength(0);
        }
    }

    private static void write(HttpServletResponse response, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        response.setContentType(type);
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    private static String problem(Rejection rejection) {
        boolean exceeded = rejection.reason() == Rejection.Reason.EXCEEDED;
        JsonObject problem = new JsonObject()
                .add("type", TYPES + (exceeded ? "quota-exceeded" : "temporary-reduced-capacity"))
                .add("title", exceeded ? "Too Many Requests" : "Service Unavailable")
                .add("status", rejection.status())
                .add("detail", rejection.detail());
        if (exceeded) {
            problem.add("violated-policies", rejection.violatedPolicies());
        }
        Duration wait = rejection.retryAfter();
        if (wait != null) {
            problem.add("retry-after", Answers.retryAfterSeconds(wait.toNanos()));
        }
        return problem.toString();
    }
}

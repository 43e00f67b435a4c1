package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import java.io.IOException;
import org.springframework.http.HttpHeaders;

/** Answers with problem details (RFC 9457), whatever the request accepts; or with plain text, or without a body. */
final class ProblemRejectionHandler implements RejectionHandler {

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private final RejectionBody body;

    /** Creates a handler that writes this kind of body. */
    ProblemRejectionHandler(RejectionBody body) {
        this.body = body;
    }

    @Override
    public void handle(WebRequest request, WebResponse response, Rejection rejection) throws IOException {
        switch (body) {
            case PROBLEM -> response.write("application/problem+json", problem(rejection));
            case TEXT -> response.write("text/plain;charset=UTF-8", rejection.detail() + "\n");
            case NONE -> response.setHeader(HttpHeaders.CONTENT_LENGTH, "0");
        }
    }

    private static String problem(Rejection rejection) {
        JsonObject problem = new JsonObject()
                .add(
                        "type",
                        switch (rejection.reason()) {
                            case EXCEEDED -> TYPES + "quota-exceeded";
                            case MISSING_KEY -> "about:blank";
                            case UNAVAILABLE -> TYPES + "temporary-reduced-capacity";
                        })
                .add(
                        "title",
                        switch (rejection.reason()) {
                            case EXCEEDED -> "Too Many Requests";
                            case MISSING_KEY -> "Bad Request";
                            case UNAVAILABLE -> "Service Unavailable";
                        })
                .add("status", rejection.status())
                .add("detail", rejection.detail());
        if (rejection.reason() == Rejection.Reason.EXCEEDED) {
            problem.add("violated-policies", rejection.violatedPolicies());
        }
        Long wait = rejection.retryAfterSeconds();
        if (wait != null) {
            problem.add("retry-after", wait);
        }
        return problem.toString();
    }
}

package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.WebResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpHeaders;

/** Answers with problem details (RFC 9457), whatever the request accepts; or with plain text, or without a body. */
final class BodyWriter {

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private final RejectionBody kind;

    /** Creates a writer of this kind of body. */
    BodyWriter(RejectionBody kind) {
        this.kind = kind;
    }

    /** The bytes of the body, which depend on the wait in whole seconds only. */
    byte[] render(Rejection rejection) {
        String text = switch (kind) {
            case PROBLEM -> problem(rejection);
            case TEXT -> rejection.detail() + "\n";
            case NONE -> "";
        };
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Writes a rendered body. */
    void write(WebResponse response, byte[] body) throws IOException {
        switch (kind) {
            case PROBLEM -> response.write("application/problem+json", body);
            case TEXT -> response.write("text/plain;charset=UTF-8", body);
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

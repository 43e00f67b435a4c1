package dev.ratelimit.spring.rules.refusal;

import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.WebResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Renders the bodies of refusals: problem details (RFC 9457), whatever the request accepts; or plain text, a content of
 * the application's own, or nothing.
 */
public final class BodyWriter {

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    /** No body. */
    public static final Body NONE = new Body(null, new byte[0]);

    /**
     * A rendered body.
     *
     * @param type its content type; {@code null} if there is no body
     * @param bytes must not be changed
     */
    @SuppressWarnings("ArrayRecordComponent")
    public // never compared
    record Body(@Nullable String type, byte[] bytes) {

        /** Writes it to a response. */
        public void writeTo(WebResponse response) throws IOException {
            if (type == null) {
                response.setHeader(HttpHeaders.CONTENT_LENGTH, "0");
            } else {
                response.write(type, bytes);
            }
        }
    }

    private BodyWriter() {}

    /** The body of a refusal, which depends on the wait in whole seconds only. */
    public static Body render(Rejection rejection, RefusalFormat format) {
        RefusalFormat.Content content = format.content();
        if (content != null && rejection.reason() == Rejection.Reason.EXCEEDED) {
            return body(content.type(), filled(content, rejection));
        }
        return switch (format.body()) {
            case PROBLEM -> body("application/problem+json", problem(rejection));
            case TEXT -> body("text/plain;charset=UTF-8", rejection.detail() + "\n");
            case NONE -> NONE;
        };
    }

    private static Body body(String type, String text) {
        return new Body(type, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Names of policies have no quotes and backslashes, so they may stand in JSON. */
    private static String filled(RefusalFormat.Content content, Rejection rejection) {
        return content.filled(
                String.valueOf(rejection.retryAfterSeconds()), String.join(", ", rejection.violatedPolicies()));
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

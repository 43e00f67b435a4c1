package dev.ratelimit.spring.web;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.RejectionBody;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers a refused request: status, {@code Retry-After}, {@code Cache-Control: no-store}, and problem details (RFC 9457)
 * whatever the request accepts. Nothing in it tells of keys, addresses, users or paths.
 */
public final class Rejection {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final int status;
    private final RejectionBody body;
    private final @Nullable String detail;
    private final @Nullable String millisHeader;

    /**
     * An answer.
     *
     * @param status the status
     * @param body the kind of body
     * @param detail what it says; {@code null} for which limit is exceeded and when to retry
     * @param millisHeader a header for the wait in milliseconds, or {@code null}
     */
    public Rejection(int status, RejectionBody body, @Nullable String detail, @Nullable String millisHeader) {
        this.status = status;
        this.body = body;
        this.detail = detail;
        this.millisHeader = millisHeader;
    }

    void write(HttpServletResponse response, AppliedRules applied, Decision decision) throws IOException {
        response.setStatus(status);
        response.setHeader("Cache-Control", "no-store");
        LimitStatus worst = decision.violated().get(0);
        long wait =
                decision.never() ? Limit.NEVER : applied.ruleOf(worst).jitter().addTo(decision.retryAfterNanos());
        if (wait != Limit.NEVER) {
            response.setHeader("Retry-After", Long.toString(retryAfterSeconds(wait)));
            if (millisHeader != null) {
                response.setHeader(millisHeader, Long.toString(-Math.floorDiv(-wait, NANOS_PER_MILLI)));
            }
        }
        String text = detail != null ? detail : describe(worst, wait);
        switch (body) {
            case PROBLEM -> write(response, "application/problem+json", problem(text, decision.violated(), wait));
            case TEXT -> write(response, "text/plain;charset=UTF-8", text + "\n");
            case NONE -> response.setContentLength(0);
        }
    }

    private static void write(HttpServletResponse response, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        response.setContentType(type);
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    private static long retryAfterSeconds(long wait) {
        return Math.max(1, RateLimitHeaders.seconds(wait));
    }

    private static String describe(LimitStatus worst, long wait) {
        String limit = "Limit '" + worst.policy().name() + "' of "
                + worst.limit().rate().describe() + " ";
        if (wait == Limit.NEVER) {
            return limit + "can never admit this request.";
        }
        long seconds = retryAfterSeconds(wait);
        return limit + "is exceeded. Retry after " + seconds + (seconds == 1 ? " second." : " seconds.");
    }

    private String problem(String text, List<LimitStatus> violated, long wait) {
        JsonObject problem = new JsonObject()
                .add("type", "https://iana.org/assignments/http-problem-types#quota-exceeded")
                .add("title", "Too Many Requests")
                .add("status", status)
                .add("detail", text)
                .add(
                        "violated-policies",
                        violated.stream()
                                .map(limit -> limit.policy().name())
                                .distinct()
                                .toList());
        if (wait != Limit.NEVER) {
            problem.add("retry-after", retryAfterSeconds(wait));
        }
        return problem.toString();
    }
}

package dev.ratelimit.spring.web;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RejectionHandler;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What callers are told: how their budgets stand, and why and until when they are refused. */
public final class Answers {

    /**
     * How refusals look.
     *
     * @param status the status where a limit is exceeded
     * @param detail a sentence for all of those; {@code null} for which limit is exceeded and when to retry
     * @param millisHeader a header for the wait in milliseconds, or {@code null}
     */
    public record Style(
            int status, @Nullable String detail, @Nullable String millisHeader) {}

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final RateLimitHeaders headers;
    private final CorsHeaders cors;
    private final Style style;
    private final RejectionHandler handler;

    /** Answers of this kind. */
    public Answers(RateLimitHeaders headers, CorsHeaders cors, Style style, RejectionHandler handler) {
        this.headers = headers;
        this.cors = cors;
        this.style = style;
        this.handler = handler;
    }

    /** Tells an admitted request how its budgets stand; the response to go on with. */
    HttpServletResponse admit(Passage passage, HttpServletResponse response) {
        return headers.write(response, passage) ? headers.keptFromRedirects(response) : response;
    }

    /** Answers a refused request, without {@code sendError}: in an error dispatch Spring Security may make a 401 of it. */
    void refuse(Passage passage, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        if (response.isCommitted()) {
            return;
        }
        AppliedRules refusing = passage.stages().get(passage.stages().size() - 1);
        Rejection rejection = rejection(refusing);
        response.setStatus(rejection.status());
        response.setHeader("Cache-Control", "no-store");
        headers.write(response, passage);
        Duration wait = rejection.retryAfter();
        if (wait != null) {
            response.setHeader("Retry-After", Long.toString(retryAfterSeconds(wait.toNanos())));
            if (style.millisHeader() != null) {
                response.setHeader(
                        style.millisHeader(), Long.toString(-Math.floorDiv(-wait.toNanos(), NANOS_PER_MILLI)));
            }
        }
        cors.write(request, response);
        handler.handle(request, response, rejection);
    }

    private Rejection rejection(AppliedRules refusing) {
        StoreUnavailableException unavailable = refusing.unavailable();
        return unavailable != null ? unavailable(refusing, unavailable) : exceeded(refusing);
    }

    /** Says nothing of what happened to the store. */
    private static Rejection unavailable(AppliedRules refusing, StoreUnavailableException unavailable) {
        long wait = refusing.rule(unavailable.policy())
                .jitter()
                .addTo(unavailable.retryAfter().toNanos());
        return new Rejection(
                Rejection.Reason.UNAVAILABLE,
                HttpServletResponse.SC_SERVICE_UNAVAILABLE,
                List.of(),
                Duration.ofNanos(wait),
                "This request cannot be checked at the moment. " + retryAfter(wait));
    }

    private Rejection exceeded(AppliedRules refusing) {
        List<LimitStatus> violated = refusing.violated();
        List<String> policies = refusing.violatedPolicies();
        if (violated.isEmpty()) {
            return exceeded(policies, null, neverBy("'" + policies.get(0) + "'"));
        }
        LimitStatus worst = violated.get(0);
        String limit =
                "'" + worst.policy().name() + "' of " + worst.limit().rate().describe();
        if (worst.retryAfterNanos() == Limit.NEVER) {
            return exceeded(policies, null, neverBy(limit));
        }
        long wait = refusing.rule(worst.policy().name()).jitter().addTo(worst.retryAfterNanos());
        return exceeded(policies, Duration.ofNanos(wait), "Limit " + limit + " is exceeded. " + retryAfter(wait));
    }

    private Rejection exceeded(List<String> policies, @Nullable Duration wait, String text) {
        String detail = style.detail() != null ? style.detail() : text;
        return new Rejection(Rejection.Reason.EXCEEDED, style.status(), policies, wait, detail);
    }

    private static String neverBy(String limit) {
        return "Limit " + limit + " can never admit this request.";
    }

    private static String retryAfter(long waitNanos) {
        long seconds = retryAfterSeconds(waitNanos);
        return "Retry after " + seconds + (seconds == 1 ? " second." : " seconds.");
    }

    static long retryAfterSeconds(long waitNanos) {
        return Math.max(1, RateLimitHeaders.seconds(waitNanos));
    }
}

package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.config.ResponseParser;
import dev.ratelimit.spring.rules.field.WholeSeconds;
import dev.ratelimit.spring.rules.refusal.BodyWriter;
import dev.ratelimit.spring.rules.refusal.RefusalFormat;
import dev.ratelimit.spring.rules.refusal.RefusalTexts;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** Writes to responses what callers see: the state of their budgets, and why and how long they are refused. */
final class RefusalWriter {

    /** A refusal and its texts. */
    record Refusal(Rejection rejection, RefusalTexts.Text text) {}

    /** What handlers say of the content that they would have answered with. */
    private static final List<String> CONTENT = List.of(
            HttpHeaders.CONTENT_DISPOSITION,
            HttpHeaders.CONTENT_ENCODING,
            HttpHeaders.CONTENT_LANGUAGE,
            HttpHeaders.CONTENT_LOCATION,
            HttpHeaders.CONTENT_RANGE,
            HttpHeaders.ETAG,
            HttpHeaders.LAST_MODIFIED);

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final RateLimitHeaders headers;
    private final RefusalTexts texts = new RefusalTexts(this::text);

    /** Writes the body instead, unless it is {@code null}. */
    private final @Nullable RejectionHandler handler;

    /** What refusals look like that are not by a policy. */
    private final RefusalFormat format;

    /** A header for the wait in milliseconds, or {@code null}. */
    private final @Nullable String millisHeader;

    private RefusalWriter(
            RateLimitHeaders headers,
            @Nullable RejectionHandler handler,
            RefusalFormat format,
            @Nullable String millisHeader) {
        this.headers = headers;
        this.handler = handler;
        this.format = format;
        this.millisHeader = millisHeader;
    }

    /** Creates a writer with these properties; {@code handler} writes the body unless it is {@code null}. */
    static RefusalWriter of(RateLimitProperties properties, @Nullable RejectionHandler handler) {
        return new RefusalWriter(
                RateLimitHeaders.of(properties),
                handler,
                ResponseParser.parse("ratelimit.response", properties.response(), RefusalFormat.DEFAULT),
                properties.retryAfterMillisHeader());
    }

    /** The names of the headers of admitted and refused requests. */
    List<String> headers() {
        return headers.names();
    }

    /** The names of the additional headers of refused requests. */
    List<String> refusalHeaders() {
        List<String> names = new ArrayList<>(List.of(HttpHeaders.RETRY_AFTER));
        if (millisHeader != null) {
            names.add(millisHeader);
        }
        return names;
    }

    /** Writes the limits of all stages to headers; returns the names of those headers. */
    List<String> writeHeaders(List<StageCharges> stages, RequestContext context, WebResponse to) {
        return headers.write(stages, context, to);
    }

    /** Answers a request that the last of these stages has refused. */
    void write(Refusal refusal, List<StageCharges> stages, RequestContext context, WebResponse to) throws IOException {
        headers.write(stages, context, to);
        write(refusal, context.request(), to);
    }

    /** Answers a request whose handler has thrown this exception. */
    void write(RateLimitExceededException thrown, @Nullable ChargedRequest charged, WebRequest request, WebResponse to)
            throws IOException {
        removeContent(to);
        writeLimits(thrown, charged, to);
        write(thrown instanceof RefusedCall call ? call.refusal() : rendered(thrown.rejection(), format), request, to);
    }

    /** Writes only the status and the limits; the application adds all other headers and the body. */
    void prepare(RateLimitExceededException thrown, @Nullable ChargedRequest charged, WebResponse to) {
        removeContent(to);
        writeLimits(thrown, charged, to);
        to.setStatus(thrown.rejection().status());
    }

    private static void removeContent(WebResponse to) {
        CONTENT.forEach(name -> to.setHeader(name, null));
    }

    private void writeLimits(RateLimitExceededException thrown, @Nullable ChargedRequest charged, WebResponse to) {
        if (thrown instanceof RefusedCall call && call.isOf(charged)) {
            headers.write(call.stages(), call.context(), to);
        }
    }

    private void write(Refusal refusal, WebRequest request, WebResponse to) throws IOException {
        Rejection rejection = refusal.rejection();
        to.setStatus(rejection.status());
        to.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        Duration wait = rejection.retryAfter();
        if (wait != null) {
            to.setHeader(HttpHeaders.RETRY_AFTER, refusal.text().retryAfter());
            if (millisHeader != null) {
                to.setHeader(millisHeader, Long.toString(-Math.floorDiv(-wait.toNanos(), NANOS_PER_MILLI)));
            }
        }
        if (handler == null) {
            refusal.text().body().writeTo(to);
        } else {
            handler.handle(request, to, rejection);
        }
    }

    /** Why these charges were refused, and for how long. */
    Refusal refusal(StageCharges refusing) {
        StoreUnavailableException unavailable = refusing.answer().unavailable();
        if (unavailable != null) {
            return rendered(
                    unavailable(refusing, unavailable),
                    refusing.rules().ruleOf(unavailable.policy()).format());
        }
        AppliedRules.Lack lack = refusing.rules().lack();
        return lack != null ? rendered(missing(refusing, lack), lack.rule().format()) : exceeded(refusing);
    }

    private Refusal rendered(Rejection rejection, RefusalFormat as) {
        return new Refusal(rejection, text(rejection, as));
    }

    private RefusalTexts.Text text(Rejection rejection, RefusalFormat as) {
        Long seconds = rejection.retryAfterSeconds();
        return new RefusalTexts.Text(
                rejection.detail(),
                seconds == null ? "" : seconds.toString(),
                handler == null ? BodyWriter.render(rejection, as) : BodyWriter.NONE);
    }

    /** Names the missing part as configured, unless that reveals code. No wait helps, so the status is not 429. */
    private static Rejection missing(StageCharges refusing, AppliedRules.Lack lack) {
        String part = lack.part().toString();
        String required = part.startsWith("#") || part.startsWith("bean:")
                ? "a value that this request does not have"
                : "exactly one " + part;
        return new Rejection(
                Rejection.Reason.MISSING_KEY,
                HttpStatus.BAD_REQUEST.value(),
                refusing.answer().violatedPolicies(),
                null,
                "Policy '" + lack.rule().policy().name() + "' requires " + required + ".");
    }

    /** Reveals nothing about the failure of the store. */
    private static Rejection unavailable(StageCharges refusing, StoreUnavailableException unavailable) {
        long wait = refusing.rules()
                .ruleOf(unavailable.policy())
                .jitter()
                .addTo(unavailable.retryAfter().toNanos());
        return new Rejection(
                Rejection.Reason.UNAVAILABLE,
                HttpStatus.SERVICE_UNAVAILABLE.value(),
                List.of(),
                Duration.ofNanos(wait),
                "This request cannot be checked at the moment. " + retryAfter(wait));
    }

    private Refusal exceeded(StageCharges refusing) {
        List<LimitStatus> violated = refusing.answer().violated();
        List<String> policies = refusing.answer().violatedPolicies();
        if (violated.isEmpty()) {
            return blocked(refusing, policies);
        }
        LimitStatus worst = violated.get(0);
        RefusalFormat as = refusing.rules().ruleOf(worst.charge()).format();
        if (worst.retryAfterNanos() == LimitAlgorithm.NEVER) {
            return rendered(exceeded(policies, null, neverBy(describe(worst.policy(), worst.limit())), as), as);
        }
        long wait = refusing.rules().ruleOf(worst.charge()).jitter().addTo(worst.retryAfterNanos());
        Duration exact = Duration.ofNanos(wait);
        RefusalTexts.Cause cause =
                new RefusalTexts.Cause(worst.policy(), worst.limit(), policies, as, WholeSeconds.retryAfter(wait));
        RefusalTexts.Text text = texts.of(cause);
        return new Refusal(new Rejection(Rejection.Reason.EXCEEDED, as.status(), policies, exact, text.detail()), text);
    }

    private RefusalTexts.Text text(RefusalTexts.Cause cause) {
        Duration wait = Duration.ofSeconds(cause.seconds());
        String detail =
                "Limit " + describe(cause.policy(), cause.limit()) + " is exceeded. " + retryAfter(wait.toNanos());
        return text(exceeded(cause.violated(), wait, detail, cause.format()), cause.format());
    }

    /** Refused without regard to budgets. */
    private Refusal blocked(StageCharges refusing, List<String> policies) {
        Rule rule = refusing.rules().ruleOf(policies.get(0));
        String limit = "'" + policies.get(0) + "'";
        long blocked = refusing.rules().blockedNanos();
        if (blocked == LimitAlgorithm.NEVER) {
            return rendered(exceeded(policies, null, neverBy(limit), rule.format()), rule.format());
        }
        long wait = rule.jitter().addTo(blocked);
        String text = "Limit " + limit + " blocks this request. " + retryAfter(wait);
        return rendered(exceeded(policies, Duration.ofNanos(wait), text, rule.format()), rule.format());
    }

    private static Rejection exceeded(List<String> policies, @Nullable Duration wait, String text, RefusalFormat as) {
        String detail = as.detail();
        return new Rejection(Rejection.Reason.EXCEEDED, as.status(), policies, wait, detail == null ? text : detail);
    }

    private static String describe(Policy policy, Limit limit) {
        return "'" + policy.name() + "' of " + limit.describe();
    }

    private static String neverBy(String limit) {
        return "Limit " + limit + " can never admit this request.";
    }

    private static String retryAfter(long waitNanos) {
        long seconds = WholeSeconds.retryAfter(waitNanos);
        return "Retry after " + seconds + (seconds == 1 ? " second." : " seconds.");
    }
}

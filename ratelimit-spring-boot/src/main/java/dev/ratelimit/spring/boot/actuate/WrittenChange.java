package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChange.OfPlan;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The change of a policy as it is written in the body of a request; a mistake is an {@link IllegalArgumentException}.
 *
 * @param fields their texts by name; {@code null} for those that are not written
 */
record WrittenChange(Function<String, @Nullable String> fields) {

    /** The names of the fields. */
    static final Set<String> FIELDS = Set.of(
            "limit",
            "burst",
            "mode",
            "penalty",
            "maxWait",
            "paths",
            "plan",
            "duration",
            "until",
            "reason",
            "restore",
            "dryRun",
            "version");

    private static final String RESTART =
            " is fixed while the application runs; change the configuration, and restart the application";

    private static final String REFRESH = RESTART + ", or refresh it with Spring Cloud";

    /** Why other properties of a policy cannot be changed, and what to do. */
    private static final Map<String, String> FIXED = fixed();

    private static Map<String, String> fixed() {
        Map<String, String> fixed = new TreeMap<>();
        List.of(
                        "algorithm",
                        "refill",
                        "align",
                        "zone",
                        "rounding",
                        "maxHold",
                        "missingKey",
                        "match",
                        "methods",
                        "permits",
                        "count",
                        "free",
                        "planResolver",
                        "stage",
                        "response",
                        "retryJitter")
                .forEach(name -> fixed.put(name, REFRESH));
        List.of("onExceeded", "action", "queue", "order", "delay", "delayed", "onStoreFailure", "maxKeys")
                .forEach(name -> fixed.put(name, RESTART));
        fixed.put("key", REFRESH + ". To change the limits of a single key, POST it to {policy}" + Rule.OVERRIDES);
        fixed.put(
                "overrides", REFRESH + ". To change the limits of a single key, POST it to {policy}" + Rule.OVERRIDES);
        fixed.put("plans", " are changed one by one; write plan: pro, and its limit");
        fixed.put(
                "concurrency",
                " beside a limit is changed as a policy of its own: POST its limit to {policy}/concurrency. Alone, it is the"
                        + " limit of its policy");
        return Map.copyOf(fixed);
    }

    /** Why a field that does not exist cannot be changed, and what to do; {@code null} if it is no property either. */
    static @Nullable String whyFixed(String field) {
        String why = FIXED.get(field);
        return why == null ? null : field + why;
    }

    /** What to change, until when, and why; nothing only if the policy is restored. */
    RateLimitChange change() {
        WrittenEnd end = new WrittenEnd(fields);
        Duration duration = end.duration();
        Instant until = end.until();
        String reason = fields.apply("reason");
        RateLimitChange change = values();
        change = duration == null ? change : change.lasting(duration);
        change = until == null ? change : change.until(until);
        return reason == null ? change : change.because(reason);
    }

    private RateLimitChange values() {
        String plan = fields.apply("plan");
        String limit = fields.apply("limit");
        String burst = fields.apply("burst");
        String mode = fields.apply("mode");
        String penalty = fields.apply("penalty");
        String maxWait = fields.apply("maxWait");
        String paths = fields.apply("paths");
        if (plan != null && !plan.strip().equals(LimitOverrides.NO_PLAN)) {
            if (limit == null && burst == null) {
                throw new IllegalArgumentException("nothing to change of the plan; write its limit, its burst, or both."
                        + " restore concerns the whole policy");
            }
            if (mode != null || penalty != null || maxWait != null || paths != null) {
                throw new IllegalArgumentException(
                        "mode, penalty, maxWait and paths are those of the whole policy; change them without a plan");
            }
            OfPlan own = new OfPlan(stripped(limit), burst == null ? null : burstOf(burst));
            return new RateLimitChange(null, null, null, null, null, Map.of(plan.strip(), own));
        }
        if (!isTrue("restore")
                && Stream.of(limit, burst, mode, penalty, maxWait, paths).allMatch(Objects::isNull)) {
            throw new IllegalArgumentException(
                    "nothing to change; write limit, burst, mode, penalty, maxWait, paths or restore");
        }
        RateLimitChange change = new RateLimitChange(
                stripped(limit),
                burst == null ? null : burstOf(burst),
                mode == null ? null : modeOf(mode),
                penalty == null ? null : WrittenEnd.time("penalty", penalty),
                maxWait == null ? null : WrittenEnd.time("maxWait", maxWait),
                Map.of());
        return paths == null ? change : change.onPaths(pathsOf(paths));
    }

    /** What is changed, as it was read; {@code null} for whatever is in force. */
    @Nullable
    String version() {
        return fields.apply("version");
    }

    /** Whether a field says so. */
    boolean isTrue(String field) {
        String text = fields.apply(field);
        if (text != null && !text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(field + " must be true or false but was " + Quotation.of(text));
        }
        return "true".equals(text);
    }

    private static String[] pathsOf(String text) {
        String[] paths = Stream.of(text.split(",", -1)).map(String::strip).toArray(String[]::new);
        if (Stream.of(paths).anyMatch(String::isEmpty)) {
            throw new IllegalArgumentException(
                    "paths must be patterns, separated by commas, such as /login, or /** for all, but was "
                            + Quotation.of(text));
        }
        return paths;
    }

    private static @Nullable String stripped(@Nullable String text) {
        return text == null ? null : text.strip();
    }

    static long burstOf(String text) {
        try {
            long burst = Long.parseLong(text.strip());
            if (burst >= 0) {
                return burst;
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw new IllegalArgumentException(
                "burst must be a whole number, 0 for the permits of one period, but was " + Quotation.of(text));
    }

    private static Mode modeOf(String text) {
        return Stream.of(Mode.values())
                .filter(mode -> mode.name().equalsIgnoreCase(text.strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "mode must be enforce, shadow or off but was " + Quotation.of(text)));
    }
}

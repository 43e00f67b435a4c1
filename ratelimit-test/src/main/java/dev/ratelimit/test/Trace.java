package dev.ratelimit.test;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A recorded history of one key: what is asked when, and what every store must answer. The files are arrays of numbers in
 * a fixed layout, one trace a line.
 */
record Trace(String name, Limit limit, Instant start, List<Step> steps) {

    /** Times in milliseconds; waits are rounded up, -1 is never. */
    record Step(
            long atMillis,
            long permits,
            boolean admitted,
            long remaining,
            long retryAfterMillis,
            long fullAfterMillis) {}

    private static final List<String> FILES = List.of(
            "token-bucket",
            "token-bucket-interval",
            "fixed-window",
            "fixed-window-clock",
            "sliding-window-counter",
            "sliding-window-counter-floor",
            "sliding-window-log");

    private static final Pattern STEP =
            Pattern.compile("\\[(\\d+),\\s*(\\d+),\\s*(true|false),\\s*(\\d+),\\s*(\\d+|null),\\s*(\\d+)]");

    /** All traces of all algorithms. */
    static Stream<Trace> all() {
        return FILES.stream().flatMap(Trace::read);
    }

    private static Stream<Trace> read(String file) {
        try (InputStream in = Trace.class.getResourceAsStream("traces/" + file + ".json")) {
            String text = new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> line.contains("\"id\":")).map(line -> parse(file, line));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Trace parse(String file, String line) {
        List<Step> steps = new ArrayList<>();
        Matcher step = STEP.matcher(line);
        while (step.find()) {
            steps.add(new Step(
                    Long.parseLong(step.group(1)),
                    Long.parseLong(step.group(2)),
                    Boolean.parseBoolean(step.group(3)),
                    Long.parseLong(step.group(4)),
                    step.group(5).equals("null") ? -1 : Long.parseLong(step.group(5)),
                    Long.parseLong(step.group(6))));
        }
        Instant start = line.contains("startEpochMillis")
                ? Instant.ofEpochMilli(number(line, "startEpochMillis"))
                : Instant.EPOCH;
        return new Trace(file + " " + text(line, "id"), limit(file, line), start, steps);
    }

    private static Limit limit(String file, String line) {
        return switch (file) {
            case "token-bucket" -> TokenBucket.of(refill(line), number(line, "capacity"));
            case "token-bucket-interval" -> TokenBucket.of(refill(line), number(line, "capacity"), Refill.INTERVAL);
            case "fixed-window" -> FixedWindow.of(window(line));
            case "fixed-window-clock" -> FixedWindow.onClock(window(line), ZoneOffset.UTC);
            case "sliding-window-counter" -> SlidingWindow.of(window(line));
            case "sliding-window-counter-floor" -> SlidingWindow.of(window(line), Rounding.FLOOR);
            case "sliding-window-log" -> SlidingLog.of(window(line));
            default -> throw new IllegalArgumentException("no algorithm for " + file);
        };
    }

    private static Rate refill(String line) {
        return Rate.of(number(line, "refillTokens"), Duration.ofMillis(number(line, "refillPeriodMillis")));
    }

    private static Rate window(String line) {
        return Rate.of(number(line, "limit"), Duration.ofMillis(number(line, "windowMillis")));
    }

    private static long number(String line, String field) {
        return Long.parseLong(find(line, "\"" + field + "\":\\s*(\\d+)"));
    }

    private static String text(String line, String field) {
        return find(line, "\"" + field + "\":\\s*\"([^\"]+)\"");
    }

    private static String find(String line, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(line);
        if (!matcher.find()) {
            throw new IllegalArgumentException(
                    "no " + pattern + " in " + line.substring(0, Math.min(200, line.length())));
        }
        return matcher.group(1);
    }

    @Override
    public String toString() {
        return name;
    }
}

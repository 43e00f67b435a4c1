package dev.ratelimit.test;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A recorded history of one key: the charges and their times, and the result of every store. Each line of a file in
 * {@code traces} is a trace with its limit, in the notation of configuration, and its steps, each a
 * {@link Step}.
 */
record Trace(String name, Limit limit, Instant start, List<Step> steps) {

    /** Times in milliseconds; waits are rounded up, -1 means never. */
    record Step(
            long atMillis,
            long permits,
            boolean admitted,
            long remaining,
            long retryAfterMillis,
            long fullAfterMillis) {}

    /** All in {@code traces}: a class loader cannot list them, and JUnit 5.12 cannot, either. */
    static final List<String> FILES = List.of(
            "fixed-window",
            "fixed-window-clock",
            "sliding-window-counter",
            "sliding-window-counter-floor",
            "sliding-window-log",
            "token-bucket",
            "token-bucket-interval");

    private static final Pattern ID = Pattern.compile("\"id\":\\s*\"([^\"]+)\"");
    private static final Pattern POLICY = Pattern.compile("\"policy\":\\s*\\{([^}]+)}");
    private static final Pattern ALGORITHM = Pattern.compile("\"algorithm\":\\s*\"([^\"]+)\"");
    private static final Pattern RATE = Pattern.compile("\"limit\":\\s*\"([^\"]+)\"");
    private static final Pattern OPTION = Pattern.compile("\"(?!algorithm|limit)([^\"]+)\":\\s*\"?([^\",]+)\"?");
    private static final Pattern START = Pattern.compile("\"startEpochMillis\":\\s*(\\d+)");
    private static final Pattern STEP =
            Pattern.compile("\\[(\\d+),\\s*(\\d+),\\s*(true|false),\\s*(\\d+),\\s*(\\d+|null),\\s*(\\d+)]");

    /** All traces of all algorithms, in the order of their file names. */
    static Stream<Trace> all() {
        return FILES.stream().flatMap(Trace::read);
    }

    private static Stream<Trace> read(String file) {
        try (InputStream in = Trace.class.getResourceAsStream("traces/" + file + ".json")) {
            Objects.requireNonNull(in, file);
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> line.contains("\"id\":")).map(line -> parse(file, line));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Trace parse(String file, String line) {
        String name = file + " " + find(ID, line);
        Matcher start = START.matcher(line);
        return new Trace(
                name,
                limit(find(POLICY, line)),
                start.find() ? Instant.ofEpochMilli(Long.parseLong(start.group(1))) : Instant.EPOCH,
                STEP.matcher(line).results().map(Trace::step).toList());
    }

    private static Limit limit(String policy) {
        LimitOptions options = LimitOptions.NONE;
        for (MatchResult property : OPTION.matcher(policy).results().toList()) {
            options = options.with(property.group(1), property.group(2));
        }
        return Algorithm.named(find(ALGORITHM, policy)).limit(Rate.parse(find(RATE, policy)), options);
    }

    private static Step step(MatchResult step) {
        return new Step(
                Long.parseLong(step.group(1)),
                Long.parseLong(step.group(2)),
                Boolean.parseBoolean(step.group(3)),
                Long.parseLong(step.group(4)),
                step.group(5).equals("null") ? -1 : Long.parseLong(step.group(5)),
                Long.parseLong(step.group(6)));
    }

    private static String find(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
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

package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.server.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several processes on one server; {@code -Dredis.history.seconds=60} runs longer than the build does. */
@Tag("slow")
class RedisHistoryTest {

    /** An admission between these times. */
    private record Admission(long start, long end) {}

    /** The output of a process. */
    private record History(long first, long last, long decisions, long failures, List<List<Admission>> admissions) {}

    private static final long PERMITS = Saturation.PERMITS;
    private static final long WINDOW = Saturation.WINDOW_NANOS;
    private static final int[] CLOCKS_OFF_SECONDS = {0, 60, -60, 17};

    /** The maximum that each algorithm admits within a time, in nanoseconds. */
    private static final List<LongUnaryOperator> BOUNDS = List.of(
            time -> PERMITS + PERMITS * time / WINDOW,
            time -> PERMITS * (-Math.floorDiv(-time, WINDOW) + 1),
            time -> PERMITS + PERMITS * time / WINDOW,
            time -> PERMITS * (time / WINDOW + 1));

    @TempDir
    private Path directory;

    @Test
    @DisplayName(
            "B7, E20, G2: four processes with other clocks never get more than allowed, nor less, at one command each at most")
    void decide_fourProcesses_historyIsWithinBounds() throws Exception {
        long seconds = Long.getLong("redis.history.seconds", 5);
        try (RedisServer server = RedisServer.start()) {
            List<History> histories = saturate(server, seconds);

            long decisions = histories.stream().mapToLong(History::decisions).sum();
            assertThat(histories).extracting(History::failures).containsOnly(0L);
            for (int i = 0; i < BOUNDS.size(); i++) {
                int policy = i;
                List<Admission> admissions = histories.stream()
                        .flatMap(history -> history.admissions().get(policy).stream())
                        .toList();
                String name = Saturation.POLICIES.get(policy).name();
                assertWithin(name, admissions, BOUNDS.get(policy));
                assertUsed(name, admissions, histories, policy == 0 ? PERMITS : 0);
            }
            String statistics = server.ask(redis -> redis.info("commandstats"));
            // charges that come while others are under way share a command
            assertThat(calls(statistics, "evalsha")).isBetween(decisions / 32, decisions);
            // once for each new set of algorithms among the charges that share a command
            assertThat(calls(statistics, "eval")).isLessThanOrEqualTo(32L * CLOCKS_OFF_SECONDS.length);
        }
    }

    private List<History> saturate(RedisServer server, long seconds) throws Exception {
        List<Process> processes = new ArrayList<>();
        List<Path> files = new ArrayList<>();
        try {
            for (int off : CLOCKS_OFF_SECONDS) {
                Path file = directory.resolve("history" + files.size());
                files.add(file);
                processes.add(launch(server.port(), seconds * 1000, file, off));
            }
            for (Process process : processes) {
                assertThat(new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
                                .readLine())
                        .isEqualTo("ready");
            }
            server.ask(redis -> redis.configResetstat());
            for (Process process : processes) {
                process.getOutputStream().write('\n');
                process.getOutputStream().flush();
            }
            for (Process process : processes) {
                assertThat(process.waitFor(seconds + 60, TimeUnit.SECONDS)).isTrue();
            }
            List<History> histories = new ArrayList<>();
            for (Path file : files) {
                histories.add(read(file));
            }
            return histories;
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    private static Process launch(int port, long millis, Path file, int off) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ProcessBuilder(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Saturation.class.getName(),
                        Integer.toString(port),
                        Long.toString(millis),
                        file.toString(),
                        Integer.toString(off))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static History read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        long[] head = numbers(lines.get(0));
        List<List<Admission>> admissions = new ArrayList<>();
        BOUNDS.forEach(bound -> admissions.add(new ArrayList<>()));
        for (String line : lines.subList(1, lines.size())) {
            long[] numbers = numbers(line);
            admissions.get((int) numbers[0]).add(new Admission(numbers[1], numbers[2]));
        }
        return new History(head[0], head[1], head[2], head[3], admissions);
    }

    private static long[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    /** I9: the admissions entirely between the start of one admission and the end of another. */
    private static void assertWithin(String name, List<Admission> admissions, LongUnaryOperator bound) {
        List<Admission> byEnd = admissions.stream()
                .sorted(Comparator.comparingLong(Admission::end))
                .toList();
        long[] starts = byEnd.stream().mapToLong(Admission::start).toArray();
        long[] ends = byEnd.stream().mapToLong(Admission::end).toArray();
        for (long from : starts) {
            long count = 0;
            for (int i = 0; i < ends.length; i++) {
                if (starts[i] - from >= 0 && ++count > bound.applyAsLong(ends[i] - from)) {
                    throw new AssertionError(name + " admitted " + count + " within " + (ends[i] - from) + " ns");
                }
            }
        }
    }

    /**
     * I10: while all processes ask, the whole limit is used. The short run of a build on a busy machine asks too
     * little.
     */
    private static void assertUsed(String name, List<Admission> admissions, List<History> histories, long first) {
        long from = histories.stream().mapToLong(History::first).min().orElseThrow();
        long to = histories.stream().mapToLong(History::last).min().orElseThrow();
        long allowed = first + PERMITS * ((to - from) / WINDOW);
        long used = admissions.stream().filter(each -> each.end() - to <= 0).count();
        boolean shortRun = to - from < 30 * WINDOW;
        assertThat(100.0 * used / allowed).as("per cent of %s", name).isGreaterThanOrEqualTo(shortRun ? 0 : 99);
    }

    private static long calls(String statistics, String command) {
        return Arrays.stream(statistics.split("\r?\n"))
                .filter(line -> line.startsWith("cmdstat_" + command + ":"))
                .flatMapToLong(line -> LongStream.of(Long.parseLong(line.replaceAll("[^=]*=(\\d+),.*", "$1"))))
                .sum();
    }
}

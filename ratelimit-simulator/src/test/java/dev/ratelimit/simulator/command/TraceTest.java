package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("slow")
class TraceTest {

    private static final List<String> FILES = List.of(
            "fixed-window-clock",
            "fixed-window",
            "sliding-window-counter-floor",
            "sliding-window-counter",
            "sliding-window-log",
            "token-bucket-interval",
            "token-bucket");

    @TempDir
    Path directory;

    /** A recorded history of one key. */
    record Recorded(String name, JsonNode trace) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Recorded> traces() throws IOException {
        List<Recorded> all = new ArrayList<>();
        for (String file : FILES) {
            try (InputStream in = TraceTest.class.getResourceAsStream("/dev/ratelimit/test/traces/" + file + ".json")) {
                JsonMapper.shared()
                        .readTree(in)
                        .get("traces")
                        .forEach(trace -> all.add(
                                new Recorded(file + " " + trace.get("id").asString(), trace)));
            }
        }
        assertThat(all).hasSizeGreaterThan(100);
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("traces")
    void recordedHistory_hasTheDecisionsOfItsAlgorithm(Recorded recorded) throws IOException {
        JsonNode trace = recorded.trace();
        long start =
                trace.has("startEpochMillis") ? trace.get("startEpochMillis").asLong() : 0;
        StringBuilder steps = new StringBuilder();
        StringBuilder expected = new StringBuilder();
        for (JsonNode step : trace.get("steps")) {
            long t = start + step.get(0).asLong();
            steps.append("{\"t\":%d,\"cost\":%s,\"key\":\"k\"}%n".formatted(t, step.get(1)));
            expected.append(("{\"t\":%d,\"key\":\"k\",\"policy\":\"trace\",\"allowed\":%s,\"remaining\":%s,"
                            + "\"retryAfterMillis\":%s,\"fullAfterMillis\":%s}\n")
                    .formatted(t, step.get(2), step.get(3), step.get(4), step.get(5)));
        }
        Path input = Files.writeString(directory.resolve("trace.ndjson"), steps);

        List<String> arguments = new ArrayList<>(List.of("replay", "--format", "trace", "--input", input.toString()));
        arguments.addAll(List.of("--decisions", "-"));
        trace.get("policy").properties().forEach(option -> {
            boolean own = List.of("limit", "algorithm", "burst", "refill", "align", "rounding", "penalty")
                    .contains(option.getKey());
            arguments.add(own ? "--" + option.getKey() : "--policy-option");
            String value = option.getValue().asString();
            arguments.add(own ? value : option.getKey() + "=" + value);
        });
        CommandLineRun run = CommandLineRun.of(arguments.toArray(String[]::new));

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).isEqualTo(expected.toString());
    }

    @Test
    void costsAndTimesThatAreNone_areCountedWithTheirLines() throws IOException {
        Path input = Files.writeString(directory.resolve("trace.ndjson"), """
                {"t": 1, "key": "a"}
                {"t": 2, "cost": -1, "key": "a"}
                {"t": "x"}
                [1]
                {"t": 3
                {"cost": 1}
                """);

        CommandLineRun run = CommandLineRun.of(
                "replay", "--format", "trace", "--limit", "1/minute", "--strict", "--input", input.toString());

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out())
                .contains("1 requests", "5 of 6 lines could not be read")
                .contains("line 2: the cost '-1' is negative", "line 6: there is no time");
    }

    @Test
    void limitWithForeignOption_failsWithTheMessageOfAStart() {
        CommandLineRun run = CommandLineRun.of(
                "replay",
                "--format",
                "trace",
                "--limit",
                "1/minute",
                "--algorithm",
                "sliding-log",
                "--burst",
                "3",
                "--input",
                "none");

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("ratelimit.policies.trace.burst: burst is not an option of sliding-log");
    }

    @Test
    void timesBefore0_cannotBeRead() throws IOException {
        Path input = Files.writeString(
                directory.resolve("trace.json"), "{\"t\": -5, \"key\": \"a\"}\n{\"t\": 5, \"key\": \"a\"}\n");

        CommandLineRun run = CommandLineRun.of(
                "replay", "--format", "trace", "--limit", "1/minute", "--strict", "--input", input.toString());

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("1 admitted, 0 refused", "1 of 2 lines could not be read", "t is negative");
    }

    @Test
    void costsOfAnySize_haveSumsThatDoNotOverflow() throws IOException {
        String most = "{\"t\": 5, \"key\": \"a\", \"cost\": 5000000000000000000}\n";
        Path input = Files.writeString(directory.resolve("trace.json"), most + most);

        CommandLineRun run =
                CommandLineRun.of("replay", "--format", "trace", "--limit", "1/minute", "--input", input.toString());

        assertThat(run.out()).contains("refused 2 of 2, asked for up to 9,223,372,036,854,775,807 permits");
    }
}

package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompareTest {

    @TempDir
    Path directory;

    private Path attack(String kind, String... more) {
        Path log = directory.resolve(kind + ".json");
        String[] arguments = new String[6 + more.length];
        System.arraycopy(
                new String[] {"attack", kind, "--out", log.toString(), "--seconds", "180"}, 0, arguments, 0, 6);
        System.arraycopy(more, 0, arguments, 6, more.length);
        CommandLineRun run = CommandLineRun.of(arguments);
        assertThat(run.code()).as(run.err()).isZero();
        return log;
    }

    @Test
    void twoConfigurations_areComparedOnTheSameTraffic() throws IOException {
        Path log = attack("greedy");
        Path strict = Files.writeString(
                directory.resolve("strict.yml"), "ratelimit.policies.each: {key: ip, limit: 20/minute}\n");
        Path open = Files.writeString(
                directory.resolve("open.yml"), "ratelimit.policies.each: {key: ip, limit: 100000/minute}\n");

        CommandLineRun run = CommandLineRun.of(
                "compare", "--config", strict.toString(), "--with", open.toString(), "--input", log.toString());

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("--config +9,0\\d\\d +17,9\\d\\d ")
                .containsPattern("--with +2[67],\\d+ +0 ");
    }

    @Test
    void algorithms_areComparedOnTheSameTraffic() {
        Path log = attack("synchronized", "--clients", "50");

        CommandLineRun run =
                CommandLineRun.of("compare", "--limit", "10/minute", "--key", "ip", "--input", log.toString());

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("token-bucket", "fixed-window", "sliding-window", "sliding-log");
    }

    @Test
    void algorithms_areComparedOnATrace() throws IOException {
        Path trace = Files.writeString(directory.resolve("trace.ndjson"), """
                {"t": 0, "key": "a"}
                {"t": 30000, "key": "a"}
                {"t": 30000, "key": "b"}
                """);

        CommandLineRun run =
                CommandLineRun.of("compare", "--format", "trace", "--limit", "1/minute", "--input", trace.toString());

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("token-bucket +2 +1 ").containsPattern("sliding-log +2 +1 ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flood", "greedy", "retry-storm", "synchronized", "growth"})
    void attacks_areTheSameForTheSameSeed(String kind) throws IOException {
        String first = Files.readString(attack(kind));
        String second = Files.readString(attack(kind));
        String other = Files.readString(attack(kind, "--seed", "2"));

        assertThat(second).isEqualTo(first).isNotEqualTo(other);
        assertThat(first.lines().limit(1)).allMatch(line -> line.startsWith("{\"time\":\"2027-01-01T00:00:0"));
    }

    @Test
    void flood_isOfNewAddresses_andAGlobalLimitHolds() throws IOException {
        Path log = attack("flood", "--rate", "1000");
        Path config = Files.writeString(
                directory.resolve("application.yml"),
                "ratelimit.policies.all: {limit: 200/second, algorithm: sliding-log}\n");

        CommandLineRun run = CommandLineRun.of("replay", "--config", config.toString(), "--input", log.toString());

        assertThat(run.out()).contains("At most 200 requests in a second were admitted");
    }
}

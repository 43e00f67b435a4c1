package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SuggestTest {

    private static final Instant MONDAY = Instant.parse("2026-11-23T08:00:00Z");
    private static final Instant TUESDAY = Instant.parse("2026-11-24T08:00:00Z");

    @TempDir
    Path directory;

    @Test
    void greedyClients_areFoundAndOnlyThey_alsoOnTheNextDay() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 1_000, 3, 1);
        Path tuesday = SyntheticLog.write(directory.resolve("tuesday.log"), TUESDAY, 1_000, 3, 2);

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--touch-at-most", "1%", "--input", monday.toString(), "--check", tuesday.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("# 3 of 1,003 keys refused", "# held out: 3 of 1,003 keys refused")
                .containsPattern("refused most often: 10\\.9\\.0\\.\\d; 10\\.9\\.0\\.\\d; 10\\.9\\.0\\.\\d\n")
                .contains("The wish holds");
    }

    @Test
    void suggestion_isAConfigurationThatDoesThat() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 300, 2, 1);
        CommandLineRun run = CommandLineRun.of("suggest", "--touch-at-most", "1%", "--input", monday.toString());
        Path pasted = Files.writeString(directory.resolve("application.yml"), run.out());

        CommandLineRun replayed =
                CommandLineRun.of("replay", "--config", pasted.toString(), "--input", monday.toString());

        assertThat(replayed.code()).as(replayed.err()).isZero();
        assertThat(replayed.out()).contains("2 of 302 keys refused");
    }

    @Test
    void nobodyGreedy_nobodyIsTouched() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 500, 0, 3);
        Path tuesday = SyntheticLog.write(directory.resolve("tuesday.log"), TUESDAY, 500, 0, 4);

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--touch-at-most", "0%", "--input", monday.toString(), "--check", tuesday.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains("# 0 of 500 keys refused", "# held out: 0 of 500 keys refused");
    }

    @Test
    void busierThanBefore_theWishDoesNotHold() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 500, 0, 3);
        Path tuesday = SyntheticLog.write(directory.resolve("tuesday.log"), TUESDAY, 100, 9, 4);

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--touch-at-most", "1%", "--input", monday.toString(), "--check", tuesday.toString());

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("held out: 10 of 109 keys", "THAT IS MORE than 1.00 %", "DOES NOT HOLD");
    }

    @Test
    void protect_admitsNoMoreInAnySecond() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 1_000, 30, 1);

        CommandLineRun run = CommandLineRun.of("suggest", "--protect", "40/second", "--input", monday.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("total:", "limit: 40/second", "algorithm: sliding-log")
                .containsPattern("at most 40 permits of all keys in a period");
    }

    @Test
    void atMost_limitsEachCaller() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 100, 2, 1);

        CommandLineRun run = CommandLineRun.of("suggest", "--at-most", "50/minute", "--input", monday.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains(
                        "per-client:",
                        "limit: 50/minute",
                        "algorithm: sliding-log",
                        "key: ip",
                        "# 2 of 95 keys refused");
    }

    @Test
    void policiesOfTheConfiguration_keepTheirNamesAndKeys() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 200, 1, 1);
        Path config = Files.writeString(directory.resolve("application.yml"), """
                ratelimit:
                  policies:
                    global: {limit: 100/minute, burst: 300}
                    per-endpoint: {key: "ip, endpoint", limit: "10/second; 100/minute"}
                    api: {key: "header:X-Api-Key", limit: 5/minute}
                """);

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--config", config.toString(), "--touch-at-most", "1%", "--input", monday.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("    global:\n", "    per-endpoint:\n", "key: ip, endpoint\n")
                .contains("Policy 'api' was left out, because the log lacks the header x-api-key");
    }
}

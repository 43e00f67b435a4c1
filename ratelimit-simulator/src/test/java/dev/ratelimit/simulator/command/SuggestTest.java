package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
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
    void policiesOfTheConfiguration_keepTheirNamesAndKeys() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 200, 1, 1);
        Path config = Files.writeString(directory.resolve("application.yml"), """
                ratelimit:
                  policies:
                    global: {limit: 100/minute, burst: 300}
                    per-endpoint: {key: "ip, endpoint", limit: "10/second; 100/minute", algorithm: sliding-log}
                    api: {key: "header:X-Api-Key", limit: 5/minute}
                """);

        Path endpoints = Files.writeString(directory.resolve("endpoints"), "GET /api/products/{id}\n");

        CommandLineRun run = CommandLineRun.of(
                "suggest",
                "--config",
                config.toString(),
                "--touch-at-most",
                "2%",
                "--input",
                monday.toString(),
                "--endpoints",
                endpoints.toString());

        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("    global:\n", "    per-endpoint:\n", "algorithm: token-bucket\n", "key: ip, endpoint\n")
                .contains("Policy 'api' was left out, because the log lacks the header x-api-key");
    }

    @Test
    void keysOfClients_areNoLinesOfTheConfiguration() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 400; i++) {
            for (String user : List.of("ann", "e\\n      limit: 9/day\\u2028\\u001b\\u202ey")) {
                if (user.length() > 3 || i % 30 == 0) {
                    lines.append("{\"time\":\"")
                            .append(MONDAY.plusSeconds(i))
                            .append(
                                    "\",\"remote_addr\":\"10.0.0.1\",\"method\":\"GET\",\"path\":\"/\",\"status\":200,\"user\":\"")
                            .append(user)
                            .append("\"}\n");
                }
            }
        }
        Path log = Files.writeString(directory.resolve("access.json"), lines);

        CommandLineRun run = CommandLineRun.of(
                "suggest",
                "--touch-at-most",
                "50%",
                "--property",
                "ratelimit.policies.api.limit=10/minute",
                "--property",
                "ratelimit.policies.api.key=user",
                "--user-from",
                "user",
                "--input",
                log.toString());

        assertThat(run.out())
                .as(run.err())
                .contains("refused most often: e\\u000a      limit: 9/day\\u2028\\u001b\\u202ey\n")
                .doesNotContain("\n      limit: 9/day");
    }

    /** A log of addresses 10.0.0.x, one request each, from this second on, one a second. */
    private Path few(String name, int from, int count) throws IOException {
        return Files.writeString(
                directory.resolve(name),
                IntStream.range(from, from + count)
                        .mapToObj(i -> line(i, "10.0.0." + i % 250, "POST /login", 200))
                        .collect(Collectors.joining()));
    }

    private static String line(int second, String address, String request, int status) {
        return String.format(
                Locale.ROOT,
                "%s - - [23/Nov/2026:08:%02d:%02d +0000] \"%s HTTP/1.1\" %d 5 \"-\" \"-\"%n",
                address,
                second / 60,
                second % 60,
                request,
                status);
    }

    private Path config(String policies) throws IOException {
        return Files.writeString(
                directory.resolve("application.yml"), "ratelimit:\n  policies:\n" + policies.indent(4));
    }

    @Test
    void tooLittleToCheckBy_isNoConfirmation() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 200, 0, 1);
        Path empty = Files.createFile(directory.resolve("empty.log"));
        Path stray = few("stray.log", 0, 1);

        for (Path check : List.of(empty, stray)) {
            CommandLineRun run = CommandLineRun.of(
                    "suggest", "--touch-at-most", "1%", "--input", monday.toString(), "--check", check.toString());

            assertThat(run.out()).as(run.err()).contains("NOT CHECKED").doesNotContain("The wish holds");
            assertThat(run.code()).isEqualTo(1);
        }
    }

    @Test
    void strayRequestLater_doesNotTakeTheWholePartToCheckBy() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 300, 0, 1);
        Files.writeString(
                monday,
                Files.readString(monday) + line(0, "10.0.0.1", "GET /", 200).replace("23/Nov/2026", "27/Nov/2026"));

        CommandLineRun run = CommandLineRun.of("suggest", "--touch-at-most", "1%", "--input", monday.toString());

        assertThat(run.out()).as(run.err()).containsPattern("# Checked by [0-9,]{3,} requests from 2026-11-23");
    }

    @Test
    void shareOfFewKeys_isRoundedTheSameWayWhenItIsChecked() throws IOException {
        Path monday = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 300, 2, 3);
        Path tuesday = SyntheticLog.write(directory.resolve("tuesday.log"), TUESDAY, 90, 1, 4);

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--touch-at-most", "1%", "--input", monday.toString(), "--check", tuesday.toString());

        assertThat(run.out())
                .as(run.err())
                .contains(
                        "held out: 1 of 91 keys refused",
                        "THAT IS MORE than 1.00 %; 1.00 % of 91 keys is none: at least 1.1 % is needed");
        assertThat(run.code()).isEqualTo(1);
    }

    @Test
    void requestsWithAFreeStatus_needPermitsUntilTheyEnd() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 400; i++) {
            lines.append(String.format(
                    "{\"time\":\"%s\",\"remote_addr\":\"10.0.0.%d\",\"method\":\"POST\",\"path\":\"/login\",\"status\":%d,\"ms\":9000}%n",
                    MONDAY.plusSeconds(i / 40 * 20L), i / 40 % 7, i % 40 == 0 ? 401 : 200));
        }
        Path log = Files.writeString(directory.resolve("access.json"), lines);
        Path config = config("login: {key: ip, limit: 100/minute, count: 401}");

        CommandLineRun run = CommandLineRun.of(
                "suggest",
                "--config",
                config.toString(),
                "--touch-at-most",
                "0%",
                "--field",
                "duration=ms",
                "--duration-unit",
                "ms",
                "--input",
                log.toString());

        assertThat(run.out()).as(run.err()).contains("# 0 of 7 keys refused", "The wish holds");
    }

    @Test
    void shareWithoutPercent_isRefused() throws IOException {
        Path log = few("access.log", 0, 200);

        CommandLineRun run = CommandLineRun.of("suggest", "--touch-at-most", "0.1", "--input", log.toString());

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("'0.1' is no share; write a percentage, such as 0.1%");
    }

    @Test
    void lineThatCannotBeRead_isTold_andFailsIfThatIsAsked() throws IOException {
        String log = SyntheticLog.write(directory.resolve("monday.log"), MONDAY, 300, 0, 3)
                .toString();
        Files.writeString(Path.of(log), "no request\n", StandardOpenOption.APPEND);

        CommandLineRun lenient = CommandLineRun.of("suggest", "--touch-at-most", "0%", "--input", log, "--check", log);
        CommandLineRun strict =
                CommandLineRun.of("suggest", "--strict", "--touch-at-most", "0%", "--input", log, "--check", log);

        assertThat(strict.out()).as(strict.err()).contains("lines could not be read:", "#     ");
        assertThat(strict.code()).isEqualTo(1);
        assertThat(lenient.code()).as(lenient.out()).isZero();
    }

    @Test
    void clientsThatTheLogDoesNotTellApart_areAnError() throws IOException {
        Path log = few("access.log", 0, 200);

        CommandLineRun run =
                CommandLineRun.of("suggest", "--touch-at-most", "1%", "--key", "user", "--input", log.toString());

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--key user reads what the log lacks: the caller's name (--user-from FIELD)");
    }
}

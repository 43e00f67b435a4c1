package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTest {

    private static final Instant START = Instant.parse("2026-11-23T08:00:00Z");

    @TempDir
    Path directory;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static String line(String address, String user, String time, String request, int status) {
        return address + " - " + user + " [27/Nov/2026:" + time + " +0100] \"" + request + " HTTP/1.1\" " + status
                + " 10 \"-\" \"-\"\n";
    }

    private CommandLineRun replay(Path config, Path log, String... more) {
        String[] arguments = Arrays.copyOf(
                new String[] {"replay", "--config", config.toString(), "--input", log.toString()}, 5 + more.length);
        System.arraycopy(more, 0, arguments, 5, more.length);
        return CommandLineRun.of(arguments);
    }

    @Test
    void policies_countByTheirKeysAndPaths() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  policies:
                    login: {key: ip, limit: 2/minute, match: {paths: /login, methods: POST}, count: 401}
                    user: {key: user, limit: 3/minute}
                """);
        Path log = file(
                "access.log",
                line("10.0.0.1", "-", "12:00:00", "POST /login", 401)
                        + line("10.0.0.1", "-", "12:00:01", "POST /login", 200)
                        + line("10.0.0.1", "-", "12:00:02", "POST /login", 401)
                        + line("10.0.0.1", "-", "12:00:03", "POST /login", 401)
                        + line("10.0.0.2", "ann", "12:00:03", "GET /", 200)
                        + line("10.0.0.3", "ann", "12:00:03", "GET /", 200)
                        + line("10.0.0.4", "ann", "12:00:03", "GET /", 200)
                        + line("10.0.0.4", "ann", "12:00:03", "GET /", 200));

        CommandLineRun run = replay(config, log, "--decisions", "-");

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().filter(line -> line.contains("\"allowed\":false")))
                .containsExactly(
                        "{\"t\":1795777203000,\"key\":\"10.0.0.1\",\"policy\":\"login\",\"allowed\":false,"
                                + "\"remaining\":0,\"retryAfterMillis\":27000,\"fullAfterMillis\":57000}",
                        "{\"t\":1795777203000,\"key\":\"ann\",\"policy\":\"user\",\"allowed\":false,"
                                + "\"remaining\":0,\"retryAfterMillis\":20000,\"fullAfterMillis\":60000}");
        assertThat(run.err()).contains("8 requests from 2026-11-27T11:00:00Z", "6 admitted, 2 refused");
    }

    @Test
    void whatTheLogLacks_leavesPoliciesOut_untilItIsNamed() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  policies:
                    api: {key: "header:X-Api-Key", limit: 1/minute, missing-key: reject}
                    owner: {key: principal, limit: 1/minute}
                    places: {key: endpoint, limit: 1/minute}
                    admins: {key: ip, limit: 1/minute, match: {when: "#request.isUserInRole('ADMIN')"}}
                """);
        String json =
                "{\"time\":\"2026-11-27T12:00:00Z\",\"remote_addr\":\"10.0.0.1\",\"method\":\"GET\",\"path\":\"/a\","
                        + "\"status\":200,\"k\":\"secret\",\"who\":\"ann\"}\n";
        Path log = file("access.json", json + json);

        CommandLineRun without = replay(config, log);
        CommandLineRun with = replay(config, log, "--header", "X-Api-Key=k", "--user-from", "who", "--decisions", "-");
        CommandLineRun unknown = replay(config, log, "--user-from", "whom");

        assertThat(without.out())
                .as(without.err())
                .contains("2 admitted, 0 refused")
                .contains("Policy 'api' was left out, because the log lacks the header x-api-key")
                .contains("Policy 'owner' was left out, because the log lacks the caller's name (--user-from FIELD)")
                .contains("Policy 'places' was left out, because the log lacks the endpoint (--endpoints FILE)")
                .contains("Policy 'admins' was left out, because the log lacks the caller's roles");
        assertThat(with.err()).contains("1 admitted, 1 refused").doesNotContain("'api' was left out", "secret");
        assertThat(with.out()).contains("\"key\":\"#").doesNotContain("secret");
        assertThat(unknown.code()).isEqualTo(2);
        assertThat(unknown.err()).contains("has a field 'whom'", "its fields are", "who");
    }

    @Test
    void fieldsOfALog_areWhateverAKeyReads() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  trusted-proxies: 10.0.0.0/8
                  policies:
                    claim: {key: "claim:tenant", limit: 1/minute, match: {paths: /claim}}
                    bean: {key: "bean:accounts", limit: 1/minute, match: {paths: /bean}}
                    cookie: {key: "cookie:sid", limit: 1/minute, match: {paths: /cookie}}
                    session: {key: session, limit: 1/minute, match: {paths: /session}}
                    ip: {key: ip, limit: 1/minute, match: {paths: /ip}}
                    admins: {key: user, limit: 1/minute, match: {paths: /role, when: "#request.isUserInRole('ADMIN')"}}
                """);
        StringBuilder text = new StringBuilder();
        for (String path : new String[] {"/claim", "/bean", "/cookie", "/session", "/ip", "/role"}) {
            for (String value : new String[] {"a", "b", "a"}) {
                text.append(("{\"time\":%d,\"ip\":\"10.0.0.1\",\"method\":\"GET\",\"path\":\"%s\",\"value\":\"%s\","
                                + "\"forwarded\":\"198.51.100.%d\",\"user\":\"%s\",\"roles\":\"USER,ADMIN\"}%n")
                        .formatted(1_795_780_800, path, value, value.equals("a") ? 1 : 2, value));
            }
        }
        Path log = file("access.json", text.toString());

        CommandLineRun run = replay(
                config,
                log,
                "--claim",
                "tenant=value",
                "--decisions",
                "-",
                "--header",
                "X-Forwarded-For=forwarded",
                "--roles-from",
                "roles");
        CommandLineRun bean = replay(config, log, "--bean", "accounts=value");
        CommandLineRun cookie = replay(config, log, "--cookie", "sid=value");
        CommandLineRun session = replay(config, log, "--session-from", "value");

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().filter(line -> line.contains("\"allowed\":false")))
                .extracting(line -> line.replaceAll(".*\"key\":\"(.*?)\",\"policy\":\"(.*?)\".*", "$2 $1"))
                .containsExactly("claim a", "ip 198.51.100.1", "admins a");
        assertThat(bean.out())
                .containsPattern("'bean': [^']*admitted 2, refused 1")
                .contains("'claim' was left out");
        assertThat(cookie.out()).containsPattern("'cookie': [^']*admitted 2, refused 1");
        assertThat(session.out())
                .containsPattern("'session': [^']*admitted 2, refused 1")
                .contains("The addresses in the log are taken for those of the clients");
    }

    @Test
    void moreKeysThanAPolicyKeeps_areSaidToBe() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 1/day, key: ip, max-keys: 64}\n");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 2_000; i++) {
            text.append(line("10.0." + i / 250 + "." + i % 250, "-", "12:00:00", "GET /", 200));
        }

        CommandLineRun run = replay(config, file("access.log", text.toString()));

        assertThat(run.out()).contains("Policy 'all' has 2,000 keys, and keeps 64 at a time (max-keys)");
    }

    @Test
    void durations_holdPermitsAndEndsSettle() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  policies:
                    exports: {key: ip, concurrency: 2}
                """);
        String format = "$remote_addr [$time_iso8601] \"$request\" $status $request_time";
        Path log = file("access.log", """
                10.0.0.1 [2026-11-27T12:00:00Z] "GET /a HTTP/1.1" 200 10.000
                10.0.0.1 [2026-11-27T12:00:01Z] "GET /a HTTP/1.1" 200 1.500
                10.0.0.1 [2026-11-27T12:00:02Z] "GET /a HTTP/1.1" 200 1.000
                10.0.0.1 [2026-11-27T12:00:03Z] "GET /a HTTP/1.1" 200 1.000
                """);

        CommandLineRun run = replay(config, log, "--format", format);

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("3 admitted, 1 refused", "At most 2 admitted requests were served at the same time");
    }

    @Test
    void profilesAndImports_areThoseOfSpringBoot() throws IOException {
        file("limits.yml", "ratelimit.policies.all.limit: 5/minute\n");
        Path config = file("application.yml", "spring.config.import: limits.yml\n");
        file("application-strict.yml", "ratelimit.policies.all.limit: 1/minute\n");
        Path log = file(
                "access.log",
                line("10.0.0.1", "-", "12:00:00", "GET /", 200) + line("10.0.0.1", "-", "12:00:00", "GET /", 200));

        assertThat(replay(config, log).out()).contains("2 admitted");
        assertThat(replay(config, log, "--profile", "strict").out()).contains("1 admitted, 1 refused");
        assertThat(replay(config, log, "--property", "ratelimit.policies.all.mode=shadow", "--profile", "strict")
                        .out())
                .contains("2 admitted, 0 refused", "would have refused 1");
    }

    @Test
    void wrongConfiguration_hasTheMessageOfTheStart() throws IOException {
        Path config = file("application.yml", "ratelimit:\n  policies:\n    login:\n      limitt: 10\n");

        CommandLineRun run = replay(config, file("access.log", ""));

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("ratelimit.policies.login.limitt: did you mean 'limit'?", "4:15");
    }

    @Test
    void compressedFilesAndSeveral_areOneLogInTheOrderOfTimes() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");
        String even =
                line("10.0.0.1", "-", "12:00:00", "GET /a", 200) + line("10.0.0.1", "-", "12:00:02", "GET /c", 200);
        String odd =
                line("10.0.0.1", "-", "12:00:01", "GET /b", 200) + line("10.0.0.1", "-", "12:00:03", "GET /d", 200);
        Path zipped = Files.write(directory.resolve("even.log.gz"), zipped(even));
        Path plain = file("odd.log", odd);

        CommandLineRun run = CommandLineRun.of(
                "replay",
                "--config",
                config.toString(),
                "--decisions",
                "-",
                "--input",
                zipped.toString(),
                plain.toString());

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().map(line -> line.replaceAll(".*\"t\":(\\d+).*\"remaining\":(\\d+).*", "$1 $2")))
                .containsExactly("1795777200000 2", "1795777201000 1", "1795777202000 0", "1795777203000 0");
    }

    private static byte[] zipped(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @Test
    void truncatedFile_isReadAsFarAsItGoes_andSaidToBe() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            text.append(line("10.0.0." + i % 250, "-", "12:00:0" + i % 10, "GET /" + i, 200));
        }
        byte[] all = zipped(text.toString());
        Path log = Files.write(directory.resolve("access.log.gz"), Arrays.copyOf(all, all.length / 2));

        CommandLineRun run = replay(config, log, "--strict");

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).containsOnlyOnce("access.log.gz: it is truncated; what comes before that was read");
    }

    @Test
    void fileWithTheHeadOfGzipAlone_isSaidToBe() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");
        Path log = Files.write(directory.resolve("access.log.gz"), Arrays.copyOf(zipped("x"), 5));

        CommandLineRun run = replay(config, log);

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("access.log.gz is no complete gzip file");
    }

    @Test
    void logThatBeginsInTheMiddleOfALine_isReadFromTheNext() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");
        String line = line("10.0.0.1", "-", "12:00:00", "GET /a", 200);

        CommandLineRun run = replay(config, file("access.log", line.substring(30) + line + line.substring(0, 30)));

        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("1 requests", "2 of 3 lines could not be read")
                .contains("line 1: it has no known format", "line 3: it does not have the format");
    }

    @Test
    void standardInput_isRead() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(
                line("10.0.0.1", "-", "12:00:00", "GET /a", 200).getBytes(StandardCharsets.UTF_8)));
        try {
            assertThat(replay(config, Path.of("-")).out()).contains("1 requests");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void emptyLogs_areSaidToBe() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 3/minute, key: ip}\n");

        Path log = file("access.log", "\n\n");

        CommandLineRun run = replay(config, log, "--strict");

        assertThat(run.code()).isEqualTo(1);
        assertThat(replay(config, log).code()).isZero();
        assertThat(run.out()).startsWith("There are no requests in the log.");
    }

    @Test
    @Tag("slow")
    void sameInput_sameOutput() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  policies:
                    all: {limit: 300/minute}
                    each: {key: "ip, endpoint", limit: 5/minute}
                    few: {key: ip, limit: 50/minute, max-keys: 100}
                """);
        String endpoints = file("endpoints", "GET /api/products/{id}\n").toString();
        Path log = SyntheticLog.write(directory.resolve("access.log"), START, 200, 2, 7);

        List<CommandLineRun> runs = new ArrayList<>();
        for (String run : List.of("1", "2")) {
            String report = directory.resolve(run).toString();
            runs.add(replay(config, log, "--decisions", "-", "--out", report, "--endpoints", endpoints));
        }

        assertThat(runs.get(0).code()).as(runs.get(0).err()).isZero();
        assertThat(runs.get(0).err()).doesNotContain("left out");
        assertThat(runs.get(1)).isEqualTo(runs.get(0));
        assertThat(directory.resolve("1/index.html")).hasSameTextualContentAs(directory.resolve("2/index.html"));
    }

    @Test
    void report_loadsNothingAndEscapesWhatClientsSent() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 1/minute, key: \"query:q\"}\n");
        String attack = line("10.0.0.1", "-", "12:00:00", "GET /?q=</script><b>", 200);
        Path log = file("access.log", attack + attack + attack);
        Path page = directory.resolve("report.html");

        CommandLineRun run = replay(config, log, "--out", page.toString(), "--show-keys");

        assertThat(run.code()).as(run.err()).isZero();
        assertThat(page)
                .content()
                .contains("&lt;/script&gt;&lt;b&gt;", "The MIT License", "uPlot")
                .doesNotContain("<b>", "src=", "@import", "url(", "<link");
    }

    @Test
    void logThatIsNone_isSaidToBe() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 1/minute, key: ip}\n");

        CommandLineRun run = replay(config, file("access.log", "this is no log\n"));

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("the format of", "is not known", "this is no log");
    }

    @Test
    void logThatCannotBeRead_leavesNoFileBehind() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {limit: 1/minute}\n");
        String line = "{\"time\":1,\"path\":\"/\"}\n";
        Path log = file("access.json", line.repeat(5) + "{\"time\":1,\"path\":\"/\",\"duration\":5}\n");

        CommandLineRun run = replay(
                config,
                log,
                "--sort-window",
                "1",
                "--out",
                directory.resolve("report").toString(),
                "--decisions",
                directory.resolve("decisions.ndjson").toString());

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("the unit of durations such as 5 is not known");
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("application.yml", "access.json");
    }

    @Test
    void textOfLogs_hasNoEffectOnTerminals() throws IOException {
        Path config = file("application.yml", "ratelimit: {policies: {api: {key: user, limit: 1/minute}}}\n");
        String good = line("10.0.0.1", "eve\u001b[31m", "12:00:00", "GET /", 200);
        String bad = "10.0.0.1 - - [\u001b]0;evil\u0007] \"GET / HTTP/1.1\" 200 10 \"-\" \"-\"\n";
        Path log = file("access.log", good + good + bad);
        Path unknown = file("unknown.log", "what\u0000 is\u001b[2J\u202e this\n");

        CommandLineRun run = replay(config, log);
        CommandLineRun failed = replay(config, unknown);

        assertThat(run.out())
                .as(run.err())
                .contains("eve\\u001b[31m", "1 of 3 lines could not be read")
                .doesNotContain("\u001b", "\u0007");
        assertThat(failed.err())
                .contains("The first line is: what\\u0000 is\\u001b[2J\\u202e this")
                .doesNotContain("\u0000", "\u001b");
    }

    @Test
    void decisionsOnStandardOutput_leaveTheSummaryToTheOther() throws IOException {
        Path config = file("application.yml", "ratelimit: {policies: {api: {key: ip, limit: 1/minute}}}\n");
        Path log = file("access.log", line("10.0.0.1", "-", "12:00:00", "GET /", 200));
        ByteArrayOutputStream err = new ByteArrayOutputStream();

        Main.run(
                new PrintWriter(new ByteArrayOutputStream(), false, StandardCharsets.UTF_8),
                new PrintWriter(err, false, StandardCharsets.UTF_8),
                "replay",
                "--config",
                config.toString(),
                "--input",
                log.toString(),
                "--decisions",
                "-");

        assertThat(err.toString(StandardCharsets.UTF_8)).contains("1 admitted, 0 refused");
    }

    @Test
    void optionsThatDoNotExist_areNoFiles() throws IOException {
        Path config = file("application.yml", "ratelimit: {policies: {api: {key: ip, limit: 1/minute}}}\n");
        Path log = file("access.log", line("10.0.0.1", "-", "12:00:00", "GET /", 200));

        CommandLineRun typo = replay(config, log, "--strcit");
        CommandLineRun page = replay(config, log, "--out", "-");

        assertThat(typo.code()).isEqualTo(2);
        assertThat(typo.err()).contains("Unknown option: '--strcit'");
        assertThat(page.code()).isEqualTo(2);
        assertThat(page.err()).contains("--out - is no directory");
    }

    private String json(int second, String more) {
        return String.format(
                "{\"time\":\"2026-11-27T12:00:%02dZ\",\"remote_addr\":\"10.0.0.1\",\"path\":\"/a\"%s}%n", second, more);
    }

    @Test
    void whatOnlyLaterLinesHave_isNotMissing() throws IOException {
        Path config = file("application.yml", """
                ratelimit:
                  policies:
                    keys: {key: "header:X-Api-Key", limit: 1/minute, missing-key: skip}
                    users: {key: principal, limit: 1/minute, missing-key: skip}
                    at-once: {concurrency: 1}
                """);
        String late = json(8, ",\"user\":\"ann\",\"k\":\"a\",\"duration_ms\":1");
        Path log = file("access.json", (json(1, "") + json(2, "") + json(3, "")).repeat(3) + late);

        CommandLineRun run = replay(config, log, "--header", "X-Api-Key=k", "--sort-window", "2");

        assertThat(run.out()).as(run.err()).contains("'keys':", "'users':").doesNotContain("left out", "no durations");
    }

    @Test
    void userThatOnlyLaterLinesHave_isNotMissing() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.users: {key: principal, limit: 1/minute}\n");
        Path log = file(
                "access.log",
                line("10.0.0.1", "-", "12:00:00", "GET /", 200).repeat(9)
                        + line("10.0.0.1", "ann", "12:00:01", "GET /", 200));

        CommandLineRun run = replay(config, log, "--sort-window", "2");

        assertThat(run.out()).as(run.err()).contains("'users':").doesNotContain("left out");
    }

    @Test
    void whatOnlyLaterLinesOfStandardInputHave_isNotMissing() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.users: {key: principal, limit: 1/minute}\n");
        String log = json(1, "").repeat(9) + json(2, ",\"user\":\"ann\"");
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(log.getBytes(StandardCharsets.UTF_8)));
        try {
            CommandLineRun run = replay(config, Path.of("-"), "--sort-window", "2");

            assertThat(run.out()).as(run.err()).contains("'users':").doesNotContain("left out");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void memberOfGzipThatIsCut_isSaid() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: 9/minute\n");
        String first = line("10.0.0.1", "-", "12:00:00", "GET /", 200);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.write(zipped(first));
        both.write(Arrays.copyOf(zipped(first), 12));
        Path log = Files.write(directory.resolve("access.log.gz"), both.toByteArray());
        both.reset();
        both.write(zipped(first));
        both.write("GET\n".getBytes(StandardCharsets.UTF_8));
        Path other = Files.write(directory.resolve("other.log.gz"), both.toByteArray());

        CommandLineRun cut = replay(config, log, "--strict");
        CommandLineRun junk = replay(config, other, "--strict");

        assertThat(cut.code()).isEqualTo(1);
        assertThat(cut.out()).contains("1 requests", "access.log.gz: it is truncated");
        assertThat(junk.code()).isEqualTo(1);
        assertThat(junk.out()).contains("1 requests", "there is something else after a member");
    }

    @Test
    void costs_haveSumsThatDoNotOverflow() throws IOException {
        Path config = file("application.yml", """
                ratelimit.policies.all:
                  key: ip
                  limit: 5/minute
                  permits: "#request.method == 'GET' ? 5000000000000000000L : 1"
                """);
        Path log = file(
                "access.log", line("10.0.0.1", "-", "12:00:00", "GET /", 200).repeat(3));

        CommandLineRun run = replay(config, log);

        assertThat(run.out()).contains("refused 3 of 3, asked for up to 9,223,372,036,854,775,807 permits");
    }

    @Test
    void byteOrderMark_isNoPartOfTheFirstAddress() throws IOException {
        Path config = file("application.yml", "ratelimit.policies.all: {key: ip, limit: 1/minute}\n");
        Path log = file(
                "access.log",
                "\ufeff" + line("10.0.0.1", "-", "12:00:00", "GET /", 200).repeat(2));

        assertThat(replay(config, log).out()).contains("1 admitted, 1 refused", "1 of 1 keys refused");
    }

    @Test
    void policyThatIsOff_isSaidToBe() throws IOException {
        Path config = file("application.yml", """
                ratelimit.policies:
                  all: {key: ip, limit: 1/minute}
                  other: {key: ip, limit: 1/minute, mode: off}
                """);
        Path log = file("access.log", line("10.0.0.1", "-", "12:00:00", "GET /", 200));

        assertThat(replay(config, log).out())
                .contains("Policy 'other' has mode: off, so that it charges nothing")
                .doesNotContain("Policy 'all'");
    }

    @Test
    void includedPolicyThatDoesNotExist_isAnError() throws IOException {
        Path config = file("application.yml", """
                ratelimit.policies:
                  api: {key: "header:X-Api-Key", limit: 1/minute, concurrency: 2, missing-key: skip}
                  all: {limit: 1/minute}
                """);
        Path log = file("access.log", line("10.0.0.1", "-", "12:00:00", "GET /", 200));

        CommandLineRun known = replay(config, log, "--include", "api");
        CommandLineRun typo = replay(config, log, "--include", "apis,api,al");

        assertThat(known.code()).as(known.err()).isZero();
        assertThat(known.out()).contains("'api':").doesNotContain("left out");
        assertThat(typo.code()).isEqualTo(2);
        assertThat(typo.err()).contains("--include names no policy: al, apis; the policies are all, api");
    }

    @Test
    void requestsThatWaited_areInTheFiguresOfTheirKeys() throws IOException {
        Path config = file("application.yml", """
                ratelimit.policies.all:
                  key: ip
                  limit: 10/minute
                  on-exceeded: {action: wait, max-wait: 30s}
                """);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            lines.append(line("10.0.0.1", "-", String.format("12:00:%02d", i), "GET /", 200));
        }
        Path log = file("access.log", lines.toString());

        CommandLineRun run = replay(config, log);
        CommandLineRun decisions = replay(config, log, "--decisions", "-");

        assertThat(run.out())
                .as(run.err())
                .contains(
                        "24 admitted, 36 refused",
                        "waited for permits: 13",
                        "refused 36 of 60, asked for up to 60 permits in a period");
        assertThat(decisions.out().lines())
                .as(decisions.err())
                .hasSize(60)
                .allMatch(line -> line.contains("\"key\":\"10.0.0.1\",\"policy\":\"all\""))
                .noneMatch(line -> line.contains("\"remaining\":null"))
                .noneMatch(line -> line.contains("\"allowed\":true") && !line.contains("\"retryAfterMillis\":0"))
                .noneMatch(line -> line.contains("\"allowed\":false") && line.contains("\"retryAfterMillis\":0"));
    }

    @Test
    void requestsOfOthers_areNotInTheFiguresOfAKeyThatWaits() throws IOException {
        Path config = file("application.yml", """
                ratelimit.policies.all:
                  key: ip
                  limit: 1/second
                  on-exceeded: {action: wait, max-wait: 5s}
                """);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            lines.append(line("10.0.0." + (1 + i % 2), "-", String.format("12:00:%02d", i / 10), "GET /", 200));
        }

        CommandLineRun run = replay(config, file("access.log", lines.toString()));

        assertThat(run.out())
                .as(run.err())
                .containsPattern("10\\.0\\.0\\.1 +refused 3 of 10, asked for up to 5 permits in a period")
                .containsPattern("10\\.0\\.0\\.2 +refused 3 of 10, asked for up to 5 permits in a period");
    }
}

package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of the actuator, tried out with other limits. */
class RecordingTest {

    private static final String POLICY = "{\"limit\":\"10/minute\",\"algorithm\":\"token-bucket\",\"key\":[%s],"
            + "\"missingKey\":\"ip\",\"applies\":\"%s\",\"permits\":\"%s\",\"annotated\":%s,\"overrides\":[%s]}";

    @TempDir
    Path directory;

    private final List<String> lines = new ArrayList<>();

    private static String policy(String key, String applies, String permits, boolean annotated, String overrides) {
        return POLICY.formatted(key, applies, permits, annotated, overrides);
    }

    private void heading(String share, boolean users, String... policies) {
        lines.add("{\"recording\":1,\"requests\":9,\"forgotten\":0,\"share\":" + share + ",\"users\":" + users
                + ",\"stages\":false,\"policies\":{" + String.join(",", policies) + "}}");
    }

    private void request(int second, String facts, String policies) {
        lines.add("{\"time\":\"2026-11-27T10:00:%02dZ\",\"method\":\"GET\",\"path\":\"/orders/{id}\",".formatted(second)
                + facts + ",\"policies\":{" + policies + "}}");
    }

    /** The lines so far; the heading has their number. */
    private Path write(String name) throws IOException {
        List<String> counted = lines.stream()
                .map(line -> line.replace("\"requests\":9", "\"requests\":" + (lines.size() - 1)))
                .toList();
        return Files.write(directory.resolve(name), counted);
    }

    private CommandLineRun replay(String yaml, String... more) throws IOException {
        Path config = Files.writeString(directory.resolve("application.yml"), yaml);
        Path log = write("recording.ndjson");
        return CommandLineRun.of(Stream.concat(
                        Stream.of("replay", "--config", config.toString(), "--input", log.toString()), Stream.of(more))
                .toArray(String[]::new));
    }

    private static final String OK = "\"status\":200,\"duration_ns\":1000000,\"address\":\"#aa\"";

    /** A recording of one request, under a policy by address. */
    private void recordOneRequest() {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        request(0, OK, "");
    }

    @Test
    void policy_isDecidedByTheKeysThatWereRecorded() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"claim:tenant\"", "on /orders/**", "1", false, ""));
        for (int i = 0; i < 4; i++) {
            request(i, OK, "\"api\":{\"permits\":1,\"key\":\"#" + i % 2 + "\"}");
        }

        CommandLineRun run = replay("""
                ratelimit.policies.api:
                  key: claim:tenant
                  limit: 1/hour
                  match.paths: /orders/**
                """, "--decisions", "-");

        assertThat(run.err()).contains("'api': 1/hour (token-bucket) by claim:tenant, on /orders/**");
        assertThat(run.err()).contains("admitted 2, refused 2; 2 of 2 keys refused");
        assertThat(run.out().lines()).hasSize(4);
        assertThat(run.out()).contains("\"key\":\"#0\",\"policy\":\"api\",\"allowed\":false");
    }

    @Test
    void policy_concernsTheRequestsThatHaveMetIt_atTheirCost() throws IOException {
        heading("1.0", false, "\"api\":" + policy("", "where annotated", "10", true, ""));
        request(0, OK, "");
        request(1, OK, "\"api\":{\"permits\":10,\"key\":\"\"}");
        request(2, OK, "\"api\":{\"permits\":10,\"key\":\"\"}");

        CommandLineRun run = replay("ratelimit.policies.api: { limit: 19/hour, match.annotated: true }");

        assertThat(run.out()).contains("3 requests", "2 admitted, 1 refused");
    }

    @Test
    void policy_thatAnAnnotationHasWrittenOut_isDecidedToo() throws IOException {
        heading(
                "1.0",
                false,
                "\"Login.login\":" + policy("\"ip\"", "where annotated", "1", true, ""),
                "\"other\":" + policy("", "on all paths", "1", false, ""));
        for (int i = 0; i < 12; i++) {
            request(0, OK, "\"Login.login\":{\"permits\":1,\"key\":\"#1\"}");
        }

        CommandLineRun run = replay("ratelimit.policies.shared: 100/minute");

        assertThat(run.out()).contains("'Login.login': 10/minute (token-bucket) by ip", "10 admitted, 2 refused");
        assertThat(run.out()).doesNotContain("'other'");
    }

    @Test
    void plansAndOverrides_areThoseThatWereRecorded() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, "\"2/hour\",\"blocked\""));
        for (int i = 0; i < 4; i++) {
            request(i, OK, "\"api\":{\"permits\":1,\"key\":\"#pro\",\"plan\":\"pro\"}");
            request(i, OK, "\"api\":{\"permits\":1,\"key\":\"#own\",\"override\":\"2/hour\"}");
        }
        request(9, OK, "\"api\":{\"permits\":1,\"key\":\"#bad\",\"override\":\"blocked\"}");
        request(9, OK, "\"api\":{\"permits\":1,\"key\":\"#any\"}");

        CommandLineRun run = replay("""
                ratelimit.policies:
                  api:
                    key: ip
                    limit: 100/hour
                    plans.pro: 3/hour
                  others:
                    limit: 100/hour
                    key: user
                    plans.pro: 3/hour
                """);

        assertThat(run.out()).contains("10 requests", "6 admitted, 4 refused");
        assertThat(run.out()).contains("#own", "refused 2 of 4", "#pro", "refused 1 of 4", "#bad", "refused 1 of 1");
        assertThat(run.out()).contains("Policy 'others' was left out");
    }

    @Test
    void policy_withAnotherKey_isDecidedByAddressesAndPaths() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"header:x-id\"", "on all paths", "1", false, ""));
        for (int i = 0; i < 3; i++) {
            request(i, OK, "\"api\":{\"permits\":1,\"key\":\"#" + i + "\"}");
        }

        CommandLineRun run =
                replay("ratelimit.policies.api: { key: 'ip, endpoint', limit: 1/hour, match.paths: '/orders/*' }");

        assertThat(run.out()).contains("1 admitted, 2 refused", "#aa GET /orders/{id}");
        assertThat(run.out()).contains("Policy 'api' has another key");
    }

    @Test
    void policy_withAnotherKeyThatWasNotRecorded_isLeftOut() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        request(0, OK, "\"api\":{\"permits\":1,\"key\":\"#1\"}");

        CommandLineRun run = replay("ratelimit.policies.api: { key: 'header:x-id', limit: 1/hour }");

        assertThat(run.out()).contains("Policy 'api' was left out, because the log lacks the header x-id");
    }

    @Test
    void policy_whoseKeysHaveOtherCallers_isLeftOutOfAShare() throws IOException {
        heading(
                "0.25",
                true,
                "\"shared\":" + policy("", "on all paths", "1", false, ""),
                "\"ips\":" + policy("\"ip\"", "on all paths", "1", false, ""),
                "\"users\":" + policy("\"user\"", "on all paths", "1", false, ""));
        request(0, OK + ",\"user\":\"#ann\"", "\"users\":{\"permits\":1,\"key\":\"#1\"}");

        CommandLineRun run = replay("""
                ratelimit.policies:
                  shared: 9/minute
                  ips: { limit: 9/minute, key: ip }
                  users: { limit: 9/minute, key: user }
                """);

        assertThat(run.out())
                .contains(
                        "Policy 'shared' was left out, because the log lacks requests of other callers"
                                + " (ratelimit.recording.share is 0.25)",
                        "Policy 'ips' was left out",
                        "'users': 9/minute");
    }

    @Test
    void refusedRequest_hasNoStatus_soThatItIsCharged() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        for (int i = 0; i < 5; i++) {
            request(
                    i,
                    i < 2 ? "\"status\":401,\"address\":\"#aa\"" : "\"refused\":true,\"address\":\"#aa\"",
                    "\"api\":{\"permits\":1,\"key\":\"#1\"}");
        }

        CommandLineRun run = replay("ratelimit.policies.api: { limit: 4/hour, key: ip, count: 401 }");

        assertThat(run.out()).contains("4 admitted, 1 refused", "3 requests were refused already");
    }

    @Test
    void stages_areThoseOfTheApplication() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        lines.set(0, lines.get(0).replace("\"stages\":false", "\"stages\":true"));
        request(0, OK, "\"api\":{\"permits\":1,\"key\":\"#1\"}");

        CommandLineRun run = replay("ratelimit.policies.api: { limit: 4/hour, key: ip }");

        assertThat(run.out()).contains("1 admitted, 0 refused");
        assertThat(run.code()).isZero();
    }

    @Test
    void heading_thatIsDamaged_isAMistake() throws IOException {
        lines.add("{\"recording\":1,\"policies\":{\"api\":");

        CommandLineRun run = replay("ratelimit.policies.api: 1/s");

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("the first line of the recording cannot be read");
    }

    @Test
    void suggest_leavesPoliciesOfAnnotations() throws IOException {
        heading("1.0", false, "\"Login.login\":" + policy("\"ip\"", "where annotated", "1", true, ""));
        for (int i = 0; i < 50; i++) {
            request(i, OK, "\"Login.login\":{\"permits\":1,\"key\":\"#1\"}");
        }
        Path config = Files.writeString(directory.resolve("application.yml"), "ratelimit.policies.shared: 100/minute");
        Path log = write("recording.ndjson");

        CommandLineRun run = CommandLineRun.of(
                "suggest", "--touch-at-most", "1%", "--config", config.toString(), "--input", log.toString());

        assertThat(run.out())
                .as(run.err())
                .contains("    shared:", "Policy 'Login.login' is written out in an annotation")
                .doesNotContain("    Login.login:");
    }

    @Test
    void recording_besideAnotherLog_isRefused() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        request(0, OK, "\"api\":{\"permits\":1,\"key\":\"#1\"}");
        String recording = write("a.ndjson").toString();
        String same = write("b.ndjson").toString();
        String none = Files.writeString(directory.resolve("none.log"), "").toString();
        String log = Files.writeString(
                        directory.resolve("access.log"),
                        "10.0.0.1 - - [27/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"-\"\n")
                .toString();

        CommandLineRun mixed = replayWithout("--input", log, recording);
        CommandLineRun two = replayWithout("--input", recording, same);
        CommandLineRun twice = replayWithout("--input", recording, recording);
        CommandLineRun alone = replayWithout("--input", none, recording);

        assertThat(mixed.code()).isEqualTo(2);
        assertThat(mixed.err())
                .contains(
                        recording + " is a recording, and " + log + " is none, so that its requests would meet none",
                        "replay one after the other");
        assertThat(two.code()).isEqualTo(2);
        assertThat(two.err())
                .contains(recording + " is a recording, and " + same
                        + ", too, with other hashes, or with the same requests");
        assertThat(twice.code()).isEqualTo(2);
        assertThat(alone.code()).as(alone.err()).isZero();
        assertThat(alone.out()).contains("1 requests");
    }

    private static CommandLineRun replayWithout(String... arguments) {
        return CommandLineRun.of(Stream.concat(
                        Stream.of("replay", "--property", "ratelimit.policies.api=1/minute"), Stream.of(arguments))
                .toArray(String[]::new));
    }

    @Test
    void recording_withinAnotherLog_isRefused() throws IOException {
        recordOneRequest();
        CommandLineRun asLog = replay("ratelimit.policies.api: 1/s", "--format", "json");
        lines.addAll(List.copyOf(lines));
        CommandLineRun twice = replay("ratelimit.policies.api: 1/s");
        lines.remove(0);
        CommandLineRun within = replay("ratelimit.policies.api: 1/s");

        assertThat(twice.code()).isEqualTo(2);
        assertThat(twice.err()).contains("recording.ndjson, line 3: a recording begins here, after other lines");
        assertThat(within.code()).isEqualTo(2);
        assertThat(within.err()).contains("recording.ndjson, line 2: a recording begins here, after other lines");
        assertThat(asLog.code()).isEqualTo(2);
        assertThat(asLog.err()).contains("is a recording; leave --format away");
    }

    @Test
    void suggest_checksARecordingByARecording() throws IOException {
        heading("1.0", false, "\"api\":" + policy("\"ip\"", "on all paths", "1", false, ""));
        for (int i = 0; i < 50; i++) {
            request(i, OK, "\"api\":{\"permits\":1,\"key\":\"#1\"}");
        }
        String recording = write("recording.ndjson").toString();
        lines.remove(0);
        String log = write("access.json").toString();

        CommandLineRun run = CommandLineRun.of(
                "suggest",
                "--touch-at-most",
                "1%",
                "--property",
                "ratelimit.policies.api=1/minute",
                "--input",
                recording,
                "--check",
                log);

        assertThat(run.code()).as(run.out()).isEqualTo(2);
        assertThat(run.err()).contains("of --input and --check, only --input is a recording");
    }

    @Test
    void recording_thatWasCut_isNotReadAsAWhole() throws IOException {
        recordOneRequest();
        lines.set(0, lines.get(0).replace("\"requests\":9", "\"requests\":1200"));

        CommandLineRun run = replay("ratelimit.policies.api: { limit: 1/s, key: ip }");
        CommandLineRun strict = replay("ratelimit.policies.api: { limit: 1/s, key: ip }", "--strict");
        lines.set(0, lines.get(0).replace("1200", "1"));
        CommandLineRun whole = replay("ratelimit.policies.api: { limit: 1/s, key: ip }", "--strict");

        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("recording.ndjson: it ends after 1 of its 1,200 requests");
        assertThat(strict.code()).isEqualTo(1);
        assertThat(whole.code()).as(whole.out()).isZero();
        assertThat(whole.out()).doesNotContain("it ends after");
    }

    @Test
    void requestsThatWereForgotten_areToldOf() throws IOException {
        recordOneRequest();
        CommandLineRun none = replay("ratelimit.policies.api: { limit: 1/s, key: ip }");
        lines.set(0, lines.get(0).replace("\"forgotten\":0", "\"forgotten\":1234"));
        CommandLineRun some = replay("ratelimit.policies.api: { limit: 1/s, key: ip }");

        assertThat(some.out()).contains("1,234 requests came before and were forgotten");
        assertThat(none.out()).doesNotContain("forgotten");
    }

    @Test
    void recording_ofALaterForm_isRefused() throws IOException {
        recordOneRequest();
        lines.set(0, lines.get(0).replace("\"recording\":1", "\"recording\":2"));

        CommandLineRun run = replay("ratelimit.policies.api: { limit: 1/s, key: ip }");

        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("the recording has version 2, and this simulator knows version 1");
    }

    /** The output for a policy that was not recorded, with requests to these endpoints, and an api key that was. */
    private String withNew(String policy, String... endpoints) throws IOException {
        lines.clear();
        heading("1.0", false, "\"api\":" + policy("\"path:id\"", "on /api/orders/7", "1", false, ""));
        for (String endpoint : endpoints) {
            request(0, OK, "\"api\":{\"permits\":1,\"key\":\"#1\"}");
            lines.set(
                    lines.size() - 1, lines.get(lines.size() - 1).replace("\"/orders/{id}\"", "\"" + endpoint + "\""));
        }
        return replay("""
                ratelimit.policies:
                  api: { limit: 99/hour, key: 'path:id', match.paths: /api/orders/7 }
                  new: { limit: 1/hour, %s }
                """.formatted(policy)).out();
    }

    @Test
    void newPolicy_thatReadsValuesOfPaths_isLeftOut() throws IOException {
        String id = withNew("key: 'path:id'", "/api/orders/{id}", "/api/orders/{id}");
        String query = withNew("key: 'query:q'", "/api/orders/{id}");

        assertThat(id)
                .contains("Policy 'new' was left out, because the log lacks the variables of paths", "'api': 99/hour");
        assertThat(query).contains("Policy 'new' was left out");
    }

    @Test
    void newPolicy_ofAPartOfAnEndpoint_isLeftOut() throws IOException {
        String[] endpoints = {"/api/orders/{id}", "/health", "/unmapped"};
        for (String match : List.of(
                "match.paths: /api/orders/1",
                "match.paths: '/api/orders/{id:[0-9]+}'",
                "match.paths: '/*/orders/1?'",
                "match.paths: '/**/1'",
                "match: { paths: '/api/**', except-paths: /api/orders/1 }",
                "match.except-paths: '/api/orders/1*'")) {
            assertThat(withNew(match, endpoints))
                    .as(match)
                    .contains(
                            "Policy 'new' was left out, because the log lacks the paths of requests to /api/orders/{id}",
                            "'api': 99/hour");
        }
        assertThat(withNew("match.paths: /index.html", endpoints))
                .contains("the log lacks the paths of requests to /unmapped");
        assertThat(withNew("match.paths: '/api/**'", "/{*path}")).contains("Policy 'new' was left out");
    }

    @Test
    void newPolicy_ofWholeEndpoints_isDecided() throws IOException {
        String[] endpoints = {"/api/orders/{id}", "/api/orders/{id}", "/health"};
        for (String match : List.of(
                "match.paths: '/api/**'",
                "match.paths: '/API/orders/*'",
                "match.paths: '/api/orders/{other}'",
                "match: { paths: '/api/orders/*', methods: GET }",
                "match: { paths: '/**', except-paths: /health }",
                "match: { paths: '/api/**', except-paths: '/api/users/**' }")) {
            assertThat(withNew(match, endpoints))
                    .as(match)
                    .contains("admitted 1, refused 1")
                    .doesNotContain("left out", "no endpoint");
        }
        assertThat(withNew("match.paths: /api/users/1", endpoints))
                .contains("admitted 0, refused 0")
                .doesNotContain("left out");
        assertThat(withNew("match: { paths: /api/orders/1, methods: POST }", endpoints))
                .doesNotContain("left out");
        assertThat(withNew("match.paths: '/api/**'", "/api/orders/{id}", "/unmapped"))
                .contains("no endpoint (/unmapped) were not recorded, so that no path of policy 'new' matches them")
                .doesNotContain("left out");
        assertThat(withNew("key: ip", "/api/orders/{id}", "/unmapped")).doesNotContain("no endpoint");
    }

    @Test
    void newPolicy_isLeftOut_becauseOfLaterRequests() throws IOException {
        String[] endpoints = {"/health", "/health", "/health", "/health", "/health", "/api/orders/{id}"};
        withNew("match.paths: /api/orders/1", endpoints);

        CommandLineRun run =
                replay("ratelimit.policies.new: { limit: 1/hour, match.paths: /api/orders/1 }", "--sort-window", "1");

        assertThat(run.out()).contains("Policy 'new' was left out");
    }

    @Test
    void exemptPaths_ofAPartOfAnEndpoint_areToldOf() throws IOException {
        recordOneRequest();
        String policy = "ratelimit.policies.new: { limit: 1/hour, key: ip }\nratelimit.exempt.paths: ";

        String part = replay(policy + "/orders/7").out();
        String whole = replay(policy + "/orders/*").out();
        String other = replay(policy + "/health").out();

        assertThat(part)
                .contains("The paths of requests to /orders/{id} were not recorded, so that they are not exempt");
        assertThat(whole).contains("exempt: 1").doesNotContain("not exempt");
        assertThat(other).doesNotContain("not exempt");
    }
}

package dev.ratelimit.simulator.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogFormatTest {

    private static AccessLog open(String text, LogOptions options) throws IOException {
        return AccessLog.of(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), options);
    }

    private static List<LoggedRequest> read(AccessLog log) throws IOException {
        List<LoggedRequest> all = new ArrayList<>();
        for (LoggedRequest request = log.next(); request != null; request = log.next()) {
            all.add(request);
        }
        return all;
    }

    private static LoggedRequest only(String text, LogOptions options) throws IOException {
        AccessLog log = open(text, options);
        List<LoggedRequest> all = read(log);
        assertThat(log.summary().mistakes()).isEmpty();
        assertThat(all).hasSize(1);
        return all.get(0);
    }

    @Test
    void combined_hasQuotesInQuotesAndHeaders() throws IOException {
        LoggedRequest request = only(
                "2001:db8::1 - ann [27/Nov/2026:12:00:01 -0130] \"GET /a%20b?q=\\\"x\\\"&r HTTP/2.0\" 304 - \"-\""
                        + " \"curl \\\"8\\\"\"\n",
                LogOptions.DEFAULT);

        assertThat(request.nanos())
                .isEqualTo(Instant.parse("2026-11-27T13:30:01Z").getEpochSecond() * 1_000_000_000);
        assertThat(request.remoteAddress()).isEqualTo("2001:db8::1");
        assertThat(request.user()).isEqualTo("ann");
        assertThat(request.path().value()).isEqualTo("/a%20b");
        assertThat(request.normalizedPath()).hasToString("/a%20b");
        assertThat(request.query()).isEqualTo("q=\\\"x\\\"&r");
        assertThat(request.parameterNames()).containsExactly("q", "r");
        assertThat(request.status()).isEqualTo(304);
        assertThat(request.header("User-Agent")).isEqualTo("curl \\\"8\\\"");
        assertThat(request.header("Referer")).isNull();
        assertThat(request.durationNanos()).isEqualTo(LoggedRequest.UNKNOWN);
    }

    @Test
    void formatOfNginx_hasHeadersCookiesAndDurations() throws IOException {
        String format = "$remote_addr $remote_user [$time_local] \"$request\" $status $request_time \"$http_x_api_key\""
                + " $cookie_sid";
        LoggedRequest request = only(
                "10.0.0.1 - [27/Nov/2026:12:00:01 +0000] \"POST / HTTP/1.1\" 200 0.250 \"k 1\" s1\n",
                LogOptions.DEFAULT.withFormat(format));

        assertThat(request.durationNanos()).isEqualTo(250_000_000);
        assertThat(request.header("X-Api-Key")).isEqualTo("k 1");
        assertThat(request.cookies()).singleElement().satisfies(cookie -> {
            assertThat(cookie.getName()).isEqualTo("sid");
            assertThat(cookie.getValue()).isEqualTo("s1");
        });
        assertThat(request.user()).isNull();
    }

    @Test
    void formatOfApache_hasMicrosecondsAndHeaders() throws IOException {
        LoggedRequest request = only(
                "10.0.0.1 - - [27/Nov/2026:12:00:01 +0000] \"GET /x HTTP/1.1\" 200 1500 \"abc\"\n",
                LogOptions.DEFAULT.withFormat("%h %l %u %t \"%r\" %>s %D \"%{X-Tenant}i\""));

        assertThat(request.durationNanos()).isEqualTo(1_500_000);
        assertThat(request.header("x-tenant")).isEqualTo("abc");
    }

    @Test
    void json_hasFieldsInObjects() throws IOException {
        FieldMapping mapping =
                FieldMapping.USUAL_NAMES.with(Kind.USER, "", "auth.name").with(Kind.CLAIM, "tenant", "auth.tenant");
        LoggedRequest request = only(
                "{\"@timestamp\":\"2026-11-27T12:00:01.5Z\",\"auth\":{\"name\":\"ann\",\"tenant\":\"t\"},\"tags\":[1,{\"a\":2}],"
                        + "\"method\":\"GET\",\"uri\":\"/x?y=1\",\"status\":200,\"duration_ms\":12.5,\"user\":\"other\"}\n",
                LogOptions.DEFAULT.withMapping(mapping));

        assertThat(request.nanos() % 1_000_000_000).isEqualTo(500_000_000);
        assertThat(request.user()).isEqualTo("ann");
        assertThat(request.durationNanos()).isEqualTo(12_500_000);
        assertThat(request.query()).isEqualTo("y=1");
    }

    @Test
    void csv_hasNamesInTheFirstLine() throws IOException {
        LoggedRequest request = only(
                "time;ip;method;path;status\n2026-11-27 12:00:01,250;10.0.0.1;GET;\"/a;\"\"b\"\"\";200\n",
                LogOptions.DEFAULT);

        assertThat(request.path().value()).isEqualTo("/a;\"b\"");
        assertThat(request.remoteAddress()).isEqualTo("10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({
        "1795780801, 2026-11-27T12:00:01Z",
        "1795780801.25, 2026-11-27T12:00:01.250Z",
        "1795780801250, 2026-11-27T12:00:01.250Z",
        "1795780801250.5, 2026-11-27T12:00:01.250500Z",
        "1795780801250000, 2026-11-27T12:00:01.250Z",
        "1795780801250000000, 2026-11-27T12:00:01.250Z",
        "2026-11-27T12:00:01Z, 2026-11-27T12:00:01Z",
        "2026-11-27T12:00:01.123456789+05:30, 2026-11-27T06:30:01.123456789Z",
        "2026-11-27 12:00:01, 2026-11-27T11:00:01Z",
        "2026-07-27T12:00, 2026-07-27T10:00:00Z",
        "27/Nov/2026:12:00:01 -0800, 2026-11-27T20:00:01Z"
    })
    void times_areReadInTheirZone(String text, Instant expected) {
        long nanos = new TimeParser(ZoneId.of("Europe/Berlin")).parse(text);

        assertThat(Instant.ofEpochSecond(0, nanos)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "x",
        "12:00",
        "2026-13-01T00:00:00Z",
        "27/Foo/2026:12:00:01 +0000",
        "2026-11-27T12:00:01 nowhere",
        "-5",
        "99999999999999999999",
        "27/Nov/2026:25:00:01 +0000"
    })
    void otherTexts_areNoTimes(String text) {
        assertThat(new TimeParser(ZoneId.of("UTC")).parse(text)).isEqualTo(TimeParser.UNREADABLE);
    }

    @Test
    void anyBytes_areLinesThatCannotBeRead_andNothingElse() throws IOException {
        Random random = new Random(1);
        byte[] line = "10.0.0.1 - - [27/Nov/2026:12:00:01 +0000] \"GET /x HTTP/1.1\" 200 15 \"-\" \"-\"\n"
                .getBytes(StandardCharsets.UTF_8);
        for (int run = 0; run < 3_000; run++) {
            byte[] bytes = line.clone();
            for (int i = random.nextInt(5); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            for (String format : List.of("combined", "common", "json", "csv", "$time_local $request")) {
                try (AccessLog log =
                        AccessLog.of(new ByteArrayInputStream(bytes), LogOptions.DEFAULT.withFormat(format))) {
                    read(log).forEach(LoggedRequest::normalizedPath);
                } catch (IllegalArgumentException e) {
                    assertThat(format).isEqualTo("csv");
                }
            }
        }
    }

    @Test
    void requestsOutOfOrder_areSortedInTheWindow_andOthersCounted() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int t : new int[] {1, 3, 2, 4, 9, 5, 6, 7, 8, 0}) {
            text.append("{\"time\":")
                    .append(1_795_780_800 + t)
                    .append(",\"path\":\"/")
                    .append(t)
                    .append("\"}\n");
        }
        LogOptions options =
                new LogOptions("json", FieldMapping.USUAL_NAMES, ZoneId.of("UTC"), null, false, "", null, 4);

        AccessLog log = open(text.toString(), options);

        assertThat(read(log))
                .extracting(request -> request.path().value())
                .containsExactly("/1", "/2", "/3", "/4", "/5", "/6", "/0", "/7", "/8", "/9");
        assertThat(log.summary().late()).isEqualTo(1);
    }

    @Test
    void timesOfEnds_becomeThoseOfBeginnings() throws IOException {
        LogOptions options =
                new LogOptions("json", FieldMapping.USUAL_NAMES, ZoneId.of("UTC"), null, true, "", null, 4);

        AccessLog log = open(
                "{\"time\":100,\"path\":\"/short\",\"duration_ms\":1000}\n{\"time\":101,\"path\":\"/long\",\"duration_ms\":5000}\n",
                options);

        assertThat(read(log)).extracting(request -> request.path().value()).containsExactly("/long", "/short");
    }

    @ParameterizedTest
    @CsvSource({"combined", "json"})
    void pathsThatServersRefuse_areLinesThatCannotBeRead(String format) throws IOException {
        String line = format.equals("json")
                ? "{\"time\":1,\"path\":\"/%zz\"}\n"
                : "10.0.0.1 - - [27/Nov/2026:12:00:01 +0000] \"GET /%zz HTTP/1.1\" 400 0 \"-\" \"-\"\n";

        AccessLog log = open(line + line, LogOptions.DEFAULT.withFormat(format));

        assertThat(read(log)).isEmpty();
        assertThat(log.summary().mistakes())
                .hasSize(2)
                .allMatch(mistake -> mistake.endsWith("the path '/%zz' has an escape that is none"));
    }

    @Test
    void durationsWithoutUnit_areNotGuessed() {
        assertThatThrownBy(() -> open("{\"time\":100,\"path\":\"/\",\"duration\":1000}\n", LogOptions.DEFAULT))
                .hasMessageContaining("the unit of durations such as 1000 is not known; write it");
    }

    @ParameterizedTest
    @CsvSource({
        "27/Nov/2026:12:00:00 -9999",
        "27/Nov/2026:12:00:00 +1860",
        "27/Nov/2026:12:00:00 +1801",
        "2026-11-27T12:00:00+19:00",
        "31/Dec/1969:12:00:00 +0000"
    })
    void timesThatCannotBe_areNotRead(String time) throws IOException {
        AccessLog log = open(
                "10.0.0.1 - - [" + time + "] \"GET / HTTP/1.1\" 200 1\n",
                LogOptions.DEFAULT.withFormat("%h %l %u %t \"%r\" %>s %b"));

        assertThat(read(log)).isEmpty();
        assertThat(log.summary().malformed()).isEqualTo(1);
    }

    @Test
    void timesOfAllZones_areRead() throws IOException {
        LoggedRequest east = only("{\"time\":\"2026-11-27T12:00:00+14:00\",\"path\":\"/\"}\n", LogOptions.DEFAULT);
        LoggedRequest west = only("{\"time\":\"2026-11-27T12:00:00-09:30\",\"path\":\"/\"}\n", LogOptions.DEFAULT);

        assertThat(west.nanos() - east.nanos()).isEqualTo((14 * 60 + 9 * 60 + 30) * 60_000_000_000L);
    }
}

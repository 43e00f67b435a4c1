package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpHeaders;

class ServerFieldsTest {

    private static final Instant NOW = Instant.parse("2027-01-01T00:00:00Z");

    private static ServerFields read(int status, String... namesAndValues) {
        HttpHeaders headers = new HttpHeaders();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return ServerFields.of(status, headers, NOW);
    }

    @ParameterizedTest(name = "{0}: {2}")
    @CsvFileSource(resources = "server-fields.txt", delimiter = '|', quoteCharacter = '`')
    void fields_thatServersSend_areRead(String sender, int status, String lines, String remaining, long wait) {
        String[] namesAndValues = Stream.of(lines.split(" // "))
                .flatMap(line -> Stream.of(line.split(": ?", 2)))
                .toArray(String[]::new);

        ServerFields fields = read(status, namesAndValues);

        assertThat(fields.remaining()).as(sender).isEqualTo(remaining(remaining));
        assertThat(fields.pauseSeconds()).as(sender).isEqualTo(wait);
    }

    private static long remaining(String text) {
        return text.equals("none") ? Long.MAX_VALUE : Long.parseLong(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "429 | 7 | 7",
                "503 | 7 | 7",
                "200 | 7 | 0",
                "500 | 7 | 0",
                "429 | 0 | 0",
                "429 | -5 | 0",
                "429 | NaN | 0",
                "429 | 1e9 | 0",
                "429 | soon | 0",
                "429 | 1.2 | 2",
                "429 | 999999999 | 999999999",
                "429 | 99999999999999999999999999 | 998201238400",
                "429 | 9223372036854775807.5s | 999999999999999",
                "429 | Fri, 01 Jan 2027 00:01:00 GMT | 60",
                "429 | Friday, 01-Jan-27 00:01:00 GMT | 60",
                "429 | Fri Jan  1 00:01:00 2027 | 60",
                "429 | Thu, 31 Dec 2026 00:00:00 GMT | 0",
                "429 | Fri, 31 Dec 9999 23:59:59 GMT | 251603539199",
            })
    void retryAfter_ofRefusals_isReadAsSecondsOrDate(int status, String value, long seconds) {
        assertThat(read(status, "Retry-After", value).pauseSeconds()).isEqualTo(seconds);
    }

    @Test
    void retryAfter_asDate_countsFromTheServersDate() {
        ServerFields fields =
                read(429, "Retry-After", "Mon, 05 Apr 2027 10:00:30 GMT", "Date", "Mon, 05 Apr 2027 10:00:00 GMT");

        assertThat(fields.pauseSeconds()).isEqualTo(30);
    }

    @Test
    void retryAfter_besidesRateLimit_wins() {
        assertThat(read(429, "Retry-After", "3", "RateLimit", "\"a\";r=0;t=90").pauseSeconds())
                .isEqualTo(3);
        assertThat(read(429, "Retry-After", "0", "RateLimit", "\"a\";r=0;t=90").pauseSeconds())
                .isZero();
        assertThat(read(429, "Retry-After", "soon", "RateLimit", "\"a\";r=0;t=90")
                        .pauseSeconds())
                .isEqualTo(90);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"a\";r=5;t=9 | 5 | 0",
                "\"a\";r=0;t=9 | 0 | 9",
                "\"a\";r=5;t=9, \"b\";r=0;t=7, \"c\";r=0;t=8 | 0 | 8",
                "\"held\";r=0 | 0 | 0",
                "a ; r = 0 ; t=\t4 | 0 | 4",
                "\"next\";a=0;w=6;c=1 | 0 | 6",
                "\"a,r=0;t=9\";r=3;t=1 | 3 | 0",
                "\"q\\\";r=0;t=1\";r=2 | 2 | 0",
                "\"a\";r=-1;t=9 | none | 0",
                "\"a\";r=NaN;t=9 | none | 0",
                "\"a\";t=9 | none | 0",
                "\"open;r=0;t=9 | none | 0",
                "limit=100, remaining=0, reset=5 | 0 | 5",
                ",,;;,=;\" | none | 0",
            })
    void rateLimit_ofADraft_isReadWithoutItsNames(String field, String remaining, long pause) {
        ServerFields fields = read(200, "RateLimit", field);

        assertThat(fields.remaining()).isEqualTo(remaining(remaining));
        assertThat(fields.pauseSeconds()).isEqualTo(pause);
    }

    @Test
    void rateLimit_onSeveralLines_isOneList() {
        assertThat(read(200, "ratelimit", "\"a\";r=4;t=1", "RATELIMIT", "\"b\";r=0;t=5")
                        .pauseSeconds())
                .isEqualTo(5);
    }

    @Test
    void rateLimit_ofACachedResponse_isOld() {
        assertThat(read(200, "RateLimit", "\"a\";r=0;t=5", "Age", "4").pauseSeconds())
                .isZero();
        assertThat(read(200, "RateLimit", "\"a\";r=0;t=5", "Age", "0").pauseSeconds())
                .isEqualTo(5);
    }

    @ParameterizedTest
    @CsvSource({
        "X-RateLimit-, 0, 30, 30",
        "X-Rate-Limit-, 0, 30, 30",
        "x-ratelimit-, 0, 30, 30",
        "RateLimit-, 0, 30, 30",
        "X-RateLimit-, 1, 30, 0",
        "X-RateLimit-, 0, 1798761630, 30",
        "X-RateLimit-, 0, 1798761630000, 30",
        "X-RateLimit-, 0, 1798761600.5, 1",
        "X-RateLimit-, 0, 1000000000, 0",
        "X-RateLimit-, 0, 999999999, 999999999",
        "X-RateLimit-, -1, 30, 0",
    })
    void olderFields_tellSecondsOrATime(String prefix, String remaining, String reset, long pause) {
        assertThat(read(200, prefix + "Remaining", remaining, prefix + "Reset", reset)
                        .pauseSeconds())
                .isEqualTo(pause);
    }

    @Test
    void fields_ofAMegabyte_areNotRead() {
        String items = "\"a\";r=5;t=1,".repeat(100_000);
        String digits = "9".repeat(1_000_000);

        assertThat(read(429, "RateLimit", items, "Retry-After", digits)).isEqualTo(ServerFields.NONE);
        assertThat(read(200, "X-RateLimit-Remaining", digits, "X-RateLimit-Reset", digits))
                .isEqualTo(ServerFields.NONE);
        assertThat(read(429, "RateLimit", items, "Retry-After", "60").pauseSeconds())
                .isEqualTo(60);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Retry-After | x | 60",
                "X-RateLimit-Remaining | 1 | 0",
                "RateLimit | \"a\";r=1;t=60 | \"b\";r=0;t=60",
            })
    void fields_ofMoreValuesThanAnHonestServerHas_areNotRead(String name, String value, String last) {
        String few = (value + ",").repeat(60) + last;
        String many = (value + ",").repeat(101) + last;
        String[] lines = Stream.concat(
                        Stream.generate(() -> Stream.of(name, value)).limit(101), Stream.of(Stream.of(name, last)))
                .flatMap(line -> line)
                .toArray(String[]::new);

        assertThat(read(429, name, few, "X-RateLimit-Reset", "60").pauseSeconds())
                .isEqualTo(60);
        assertThat(read(429, name, many, "X-RateLimit-Reset", "60").pauseSeconds())
                .isZero();
        assertThat(read(429, lines).pauseSeconds()).isZero();
    }
}

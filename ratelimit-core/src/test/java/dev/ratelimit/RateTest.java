package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.time.Period;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateTest {

    private static final String PERIODS =
            "write second, minute, hour, day or month, a number with ms, s, m, h or d such as 10s, or an ISO duration";

    @ParameterizedTest
    @CsvSource({
        "10/second, 10, PT1S",
        "10/minute, 10, PT1M",
        "10/hour, 10, PT1H",
        "10/day, 10, PT24H",
        "10/ms, 10, PT0.001S",
        "10/s, 10, PT1S",
        "10/m, 10, PT1M",
        "10/h, 10, PT1H",
        "10/d, 10, PT24H",
        "1/250ms, 1, PT0.25S",
        "10/10s, 10, PT10S",
        "300/5m, 300, PT5M",
        "1000/24h, 1000, PT24H",
        "1/7d, 1, PT168H",
        "5/PT10S, 5, PT10S",
        "5/P1D, 5, PT24H",
        "5/PT0.000000001S, 5, PT0.000000001S",
        "' 10 / minute ', 10, PT1M",
        "'10/5 minute', 10, PT5M",
        "5/sec, 5, PT1S",
        "5/Seconds, 5, PT1S",
        "5/min, 5, PT1M",
        "5/mins, 5, PT1M",
        "5/minutes, 5, PT1M",
        "5/Minute, 5, PT1M",
        "5 per minute, 5, PT1M",
        "5 per 10 MINUTES, 5, PT10M",
        "100/hr, 100, PT1H",
        "100/hrs, 100, PT1H",
        "100/hours, 100, PT1H",
        "100/days, 100, PT24H",
        "007/s, 7, PT1S",
        "9223372036854775807/s, 9223372036854775807, PT1S"
    })
    void parse_notation_isRead(String text, long permits, Duration period) {
        assertThat(Rate.parse(text)).isEqualTo(Rate.of(permits, period));
    }

    @Test
    void parse_month_isCalendarMonth() {
        Rate rate = Rate.parse("1000/month");

        assertThat(rate).isEqualTo(new Rate(1000, Period.ofMonths(1)));
        assertThat(rate.perMonth()).isTrue();
        assertThat(rate.periodNanos()).isEqualTo(Duration.ofDays(31).toNanos());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "\"\"|the limit is empty; write 10/second or 100/minute",
                "\"   \"|the limit is empty; write 10/second or 100/minute",
                "10|'10' has no period; write 10/second, 10/minute, 10/hour",
                "10/|'10/' has no period; write 10/second, 10/minute, 10/hour",
                "10 /|'10 /' has no period; write 10/second, 10/minute, 10/hour",
                "ten|'ten' is not a limit; write 10/second, 10/minute or 10/hour",
                "/|'/' is not a limit; write 10/second, 10/minute or 10/hour",
                "10 a minute|'10 a minute' is not a limit; write 10/second, 10/minute or 10/hour",
                "10 per|'10 per' has no period; write 10/second, 10/minute, 10/hour",
                "/minute|'/minute' has no number before '/'; write 10/second or 100/minute",
                "ten/s|'ten/s': 'ten' is not a whole number of permits; write digits only, as in 100/minute",
                "1.5/s|'1.5/s': '1.5' is not a whole number of permits; write 3/2s",
                "0.5/second|'0.5/second': '0.5' is not a whole number of permits; write 1/2s",
                "0,25 per minute|'0,25 per minute': '0,25' is not a whole number of permits; write 1/4m",
                "0.5/month|'0.5/month': '0.5' is not a whole number of permits; write digits only, as in 100/minute",
                "1.000/s|'1.000/s': '1.000' is not a whole number of permits; write digits only, as in 100/minute",
                "1k/min|'1k/min': '1k' is not a whole number of permits; write 1000/minute",
                "1.5M/day|'1.5M/day': '1.5M' is not a whole number of permits; write 1500000/day",
                "1,000/minute|'1,000/minute': '1,000' is not a whole number of permits; write 1000/minute",
                "1 000/week|'1 000/week': '1 000' is not a whole number of permits; write 1000/7d",
                "5/week|'5/week': unknown period 'week'; write 5/7d",
                "5 per 2 weeks|'5 per 2 weeks': unknown period '2 weeks'; write 5/14d",
                "5/Year|'5/Year': unknown period 'Year'; write 5/365d",
                "5/mo|'5/mo': unknown period 'mo'; write 5/month",
                "5/1m30s|'5/1m30s': unknown period '1m30s'; write 5/90s",
                "5/1d12h|'5/1d12h': unknown period '1d12h'; write 5/36h",
                "5/minute and 50/day|'5/minute and 50/day': unknown period 'minute and 50/day'; write 5/minute; 50/day",
                "5/s, 50/m|'5/s, 50/m': unknown period 's, 50/m'; write 5/second; 50/minute",
                "1e3/s|'1e3/s': '1e3' is not a whole number of permits; write digits only, as in 100/minute",
                "-1/s|'-1/s': '-1' is not a whole number of permits; write digits only, as in 100/minute",
                "+1/s|'+1/s': '+1' is not a whole number of permits; write digits only, as in 100/minute",
                "1_000/s|'1_000/s': '1_000' is not a whole number of permits; write 1000/second",
                "0/s|'0/s' permits nothing; write at least 1 permit (to switch a policy off, set mode: off)",
                "9223372036854775808/s|'9223372036854775808/s': at most 9223372036854775807 permits can be written",
                "10/10|'10/10': the period '10' has no unit; write '10s', '10m' or '10h'",
                "10/0s|'10/0s': the period must be from 1 ns to 292 years",
                "10/PT0S|'10/PT0S': the period must be from 1 ns to 292 years",
                "10/PT-1S|'10/PT-1S': the period must be from 1 ns to 292 years",
                "10/PT2562047H47M16.854775808S|'10/PT2562047H47M16.854775808S': the period must be from 1 ns to 292 years",
                "10/106752d|'10/106752d': the period must be from 1 ns to 292 years"
            })
    void parse_mistake_isExplained(String text, String message) {
        assertThatIllegalArgumentException().isThrownBy(() -> Rate.parse(text)).withMessage(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fortnight", "M", "ss", "mss", "/s", "s/", "-5s", "2month", "1.5s", "5s5", "s s"})
    void parse_unknownPeriod_listsThoseThereAre(String period) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("10/" + period))
                .withMessage("'10/" + period + "': unknown period '" + period + "'; " + PERIODS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"P", "PT", "P1M", "P1Y", "PT1X", "PT1S1", "9223372036854775808s", "9223372036854775807d"})
    void parse_unreadablePeriod_listsWhatIsReadable(String period) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("10/" + period))
                .withMessage("'10/" + period + "': cannot read the period '" + period + "'; " + PERIODS);
    }

    @Test
    void parse_controlAndForeignCharacters_areEscapedInTheMessage() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("1\u0000\u001b[31m\u00a0\u0661\ud83d\ude00/s"))
                .withMessage("'1\\u0000\\u001b[31m\\u00a0\\u0661\\ud83d\\ude00/s':"
                        + " '1\\u0000\\u001b[31m\\u00a0\\u0661\\ud83d\\ude00' is not a whole number of permits;"
                        + " write digits only, as in 100/minute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "/", "x", " ", "\n", "P", "\u0661", "1/", "/1", "PT", "\ud800"})
    void parse_eightKibibytes_isRefusedInAShortMessage(String piece) {
        String text = "1/" + piece.repeat(8192 / piece.length());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse(text))
                .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(900));
    }

    @Test
    void parse_garbage_isReadOrRefusedWithAPrintableMessage() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        String alphabet = "0019/ /smhdPTM.-;'\\\"\u0000\n\u001b\u00e9\u0661\ud800msday";
        for (int i = 0; i < 50_000; i++) {
            String text = random.ints(random.nextInt(12), 0, alphabet.length())
                    .mapToObj(c -> alphabet.substring(c, c + 1))
                    .collect(Collectors.joining());
            try {
                Rate rate = Rate.parse(text);
                assertThat(Rate.parse(rate.toString())).as("seed %s", seed).isEqualTo(rate);
            } catch (IllegalArgumentException refused) {
                assertThat(refused.getMessage()).as("seed %s", seed).matches("[ -~]+");
            } catch (RuntimeException other) {
                fail("seed " + seed + ": " + text, other);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "10/s, 10/second, 10 per second",
        "10/60s, 10/minute, 10 per minute",
        "10/1m, 10/minute, 10 per minute",
        "10/60m, 10/hour, 10 per hour",
        "10/24h, 10/day, 10 per day",
        "10/1d, 10/day, 10 per day",
        "10/PT48H, 10/2d, 10 per 2d",
        "10/25h, 10/25h, 10 per 25h",
        "10/90m, 10/90m, 10 per 90m",
        "10/90s, 10/90s, 10 per 90s",
        "10/1000ms, 10/second, 10 per second",
        "10/ms, 10/1ms, 10 per 1ms",
        "10/1500ms, 10/1500ms, 10 per 1500ms",
        "10/PT0.000000007S, 10/PT0.000000007S, 10 per PT0.000000007S",
        "10/month, 10/month, 10 per month"
    })
    void toString_isCanonical(String text, String canonical, String described) {
        assertThat(Rate.parse(text)).hasToString(canonical);
        assertThat(Rate.parse(text).describe()).isEqualTo(described);
    }

    @Test
    void toString_anyRate_isReadBackAsTheSame() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            long nanos = 1 + (random.nextLong() & Long.MAX_VALUE) % (1L << (1 + random.nextInt(62)));
            long unit = new long[] {1, 1_000_000, 1_000_000_000, 60_000_000_000L, 3_600_000_000_000L}[i % 5];
            Duration period = Duration.ofNanos(Math.max(nanos / unit, 1) * unit);
            Rate rate = Rate.of(1 + (random.nextLong() & Long.MAX_VALUE) / 2, period);

            assertThat(Rate.parse(rate.toString())).as("seed %s", seed).isEqualTo(rate);
        }
    }

    @Test
    void parseAll_severalRates_areReadInOrder() {
        assertThat(Rate.parseAll("10/second; 1000/hour ;5000/month"))
                .containsExactly(Rate.parse("10/second"), Rate.parse("1000/hour"), Rate.parse("5000/month"));
        assertThat(Rate.parseAll("10/s")).containsExactly(Rate.parse("10/second"));
    }

    @Test
    void parseAll_samePeriodTwice_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parseAll("1/minute; 2/60s"))
                .withMessage("'1/minute; 2/60s' has two rates per minute; keep one of them");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parseAll("1/month;2/month"))
                .withMessage("'1/month;2/month' has two rates per month; keep one of them");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";", "10/s;", ";10/s", "10/s;;1/m"})
    void parseAll_emptyPart_isRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parseAll(text))
                .withMessage("the limit is empty; write 10/second or 100/minute");
    }

    @Test
    void of_outOfRange_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.of(0, Duration.ofSeconds(1)))
                .withMessage("permits must be at least 1 but was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.of(1, Duration.ZERO))
                .withMessage("period must be from 1 ns to 292 years but was PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.of(1, Duration.ofNanos(-1)))
                .withMessage("period must be from 1 ns to 292 years but was PT-0.000000001S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.of(1, Duration.ofDays(106_752)))
                .withMessage("period must be from 1 ns to 292 years but was PT2562048H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Rate(1, Period.ofMonths(2)))
                .withMessage("period must be a Duration or one month but was P2M");
    }

    @Test
    void parse_longestPeriod_isTaken() {
        assertThat(Rate.parse("10/PT2562047H47M16.854775807S").periodNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void parse_longText_isQuotedUpTo60Characters() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("~".repeat(60)))
                .withMessageStartingWith("'" + "~".repeat(60) + "' is not a limit");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("~".repeat(61)))
                .withMessageStartingWith("'" + "~".repeat(60) + "...' is not a limit");
    }
}

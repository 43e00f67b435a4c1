package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAmount;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitNotationTest {

    private static final LimitNotation NOTATION = LimitNotation.STANDARD;
    private static final int MANY = 5_000;

    private static final ZoneId[] ZONES = {
        ZoneOffset.UTC,
        ZoneId.of("UTC"),
        ZoneId.of("GMT0"),
        ZoneId.of("UTC+01:00"),
        ZoneOffset.ofHoursMinutesSeconds(-5, -30, -7),
        ZoneId.of("Etc/GMT+11"),
        ZoneId.of("Europe/Berlin"),
        ZoneId.of("America/Argentina/ComodRivadavia")
    };

    /** In the order of {@code limits.txt}, whose lines never change: rows of databases have them. */
    private static final List<Limit> LIMITS = List.of(
            TokenBucket.of(Rate.parse("100/minute")),
            TokenBucket.of(Rate.parse("100/minute"), 200),
            TokenBucket.of(Rate.of(1, Duration.ofNanos(1))),
            TokenBucket.of(Rate.of(7, Duration.ofDays(1).plusNanos(1)), 1),
            TokenBucket.of(Rate.of(1L << 61, Duration.ofDays(36_500)), 1),
            TokenBucket.of(Rate.parse("100/60s"), 100, Refill.INTERVAL),
            TokenBucket.of(Rate.parse("3/90s"), 4, Refill.INTERVAL),
            FixedWindow.of(Rate.of(Long.MAX_VALUE, Duration.ofHours(24))),
            FixedWindow.of(Rate.parse("100/250ms")),
            FixedWindow.onClock(Rate.parse("100/90s"), ZoneId.of("Europe/Berlin")),
            FixedWindow.onClock(Rate.parse("100/day"), ZoneOffset.UTC),
            FixedWindow.onClock(Rate.parse("100/7d"), ZoneId.of("Europe/Berlin")),
            FixedWindow.onClock(Rate.parse("100/day"), ZoneId.of("UTC")),
            FixedWindow.onClock(Rate.parse("100/month"), ZoneId.of("Etc/GMT+11")),
            FixedWindow.onClock(Rate.parse("100/month"), ZoneOffset.ofHoursMinutes(5, 45)),
            SlidingWindow.of(Rate.parse("100/second")),
            SlidingWindow.of(Rate.of(1L << 62, Duration.ofDays(26_645)), Rounding.FLOOR),
            SlidingLog.of(Rate.parse("1000000/24h")),
            SlidingLog.of(Rate.of(5, Duration.ofNanos(Long.MAX_VALUE))),
            Concurrency.of(10),
            Concurrency.of(1, Duration.ofNanos(1000)),
            penalized(TokenBucket.of(Rate.parse("100/minute"), 200), Duration.ofMinutes(10)),
            penalized(FixedWindow.onClock(Rate.parse("100/month"), ZoneId.of("Europe/Berlin")), Duration.ofNanos(1)),
            penalized(TokenBucket.of(Rate.parse("1/hour"), 1, Refill.INTERVAL), Duration.ofDays(365)));

    private static Limit penalized(Limit limit, Duration penalty) {
        return Policy.of("p", limit).withPenalty(penalty).limits().get(0);
    }

    private static List<String> texts() throws IOException {
        try (InputStream lines = LimitNotationTest.class.getResourceAsStream("limits.txt")) {
            return new String(Objects.requireNonNull(lines).readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .toList();
        }
    }

    @Test
    void of_limits_areTheTextsOfAllVersions() throws IOException {
        assertThat(LIMITS.stream().map(NOTATION::of)).containsExactlyElementsOf(texts());
        assertThat(texts().stream().map(NOTATION::parse)).containsExactlyElementsOf(LIMITS);
    }

    @Test
    void of_algorithms_areAllInTheTable() throws IOException {
        for (Algorithm algorithm : Algorithm.values()) {
            assertThat(texts()).anyMatch(text -> text.startsWith("v1 " + algorithm + " "));
        }
    }

    static Stream<Locale> locales() {
        return Stream.of("", "ar-EG-u-nu-arab", "tr-TR", "th-TH-u-nu-thai-ca-buddhist")
                .map(Locale::forLanguageTag);
    }

    @ParameterizedTest
    @MethodSource("locales")
    void parse_randomLimits_areTheSameAgain(Locale locale) {
        long seed = Seeds.next();
        Random random = new Random(seed);
        Map<String, Limit> written = new HashMap<>();
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(locale);
            for (int i = 0; i < MANY; i++) {
                Limit limit = any(random);
                String text = NOTATION.of(limit);
                assertThat(NOTATION.parse(text)).as("seed %d", seed).isEqualTo(limit);
                assertThat(text).matches("[!-:<-~]+( [!-:<-~]+)+").hasSizeLessThan(160);
                Limit same = written.putIfAbsent(text, limit);
                assertThat(same == null || same.equals(limit)).as(text).isTrue();
            }
        } finally {
            Locale.setDefault(before);
        }
    }

    /** A number from 1 to 2^bits; each order of magnitude is equally likely. */
    private static long number(Random random, int bits) {
        int size = random.nextInt(bits + 1);
        return Math.min(
                Long.MAX_VALUE >>> (63 - bits),
                (1L << size) + (random.nextLong() & ((1L << size) - 1)) & Long.MAX_VALUE);
    }

    private static Limit any(Random random) {
        while (true) {
            try {
                Limit limit = any(random, number(random, 62), Duration.ofNanos(number(random, 62)));
                return limit.concurrency() || random.nextInt(3) > 0
                        ? limit
                        : penalized(limit, Duration.ofNanos(number(random, 54)));
            } catch (IllegalArgumentException e) {
                // cannot be represented
            }
        }
    }

    private static Limit any(Random random, long permits, Duration period) {
        ZoneId zone = ZONES[random.nextInt(ZONES.length)];
        boolean months = random.nextBoolean();
        TemporalAmount days = months ? Period.ofMonths(1) : Duration.ofDays(number(random, 15));
        return switch (random.nextInt(9)) {
            case 0 -> TokenBucket.of(Rate.of(permits, period));
            case 1 -> TokenBucket.of(Rate.of(permits, period), number(random, 61));
            case 2 -> TokenBucket.of(Rate.of(permits, period), number(random, 62), Refill.INTERVAL);
            case 3 -> FixedWindow.of(Rate.of(permits, period));
            case 4 -> FixedWindow.onClock(Rate.of(permits, period), zone);
            case 5 -> FixedWindow.onClock(new Rate(permits, days), zone);
            case 6 -> SlidingWindow.of(Rate.of(permits, period), months ? Rounding.EXACT : Rounding.FLOOR);
            case 7 -> SlidingLog.of(Rate.of(number(random, 19), period));
            default -> Concurrency.of(number(random, 19), period);
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "v1",
                "v1 ",
                "v2 token-bucket 100/minute",
                "token-bucket 100/minute",
                "v1 token-bucket",
                "v1 token-bucket ",
                "v1 token-bucket 100",
                "v1 token-bucket 0/minute",
                "v1 token-bucket 100/min",
                "v1 token-bucket 100/60s",
                "v1 token-bucket 100/minute ",
                "v1  token-bucket 100/minute",
                "v1 token-bucket 100/minute burst",
                "v1 token-bucket 100/minute burst=",
                "v1 token-bucket 100/minute burst=100",
                "v1 token-bucket 100/minute burst=20O",
                "v1 token-bucket 100/minute burst=200 burst=300",
                "v1 token-bucket 100/minute refill=interval burst=200",
                "v1 token-bucket 100/month",
                "v1 fixed-window 100/minute zone=Z",
                "v1 fixed-window 100/day align=clock",
                "v1 fixed-window 100/day align=clock zone=Atlantis",
                "v1 leaky-bucket 100/minute",
                "v1 penalty=10m",
                "v1 penalty=10m concurrency 10/10m",
                "v1 penalty=month token-bucket 100/minute",
                "v1 penalty=10m penalty=10m token-bucket 100/minute",
                "v1 token-bucket 100/minute penalty=10m",
                "v1 token-bucket 100/minute\n",
                "v1 token-bucket \u0661\u0660\u0660/minute"
            })
    void parse_anyOtherText_isRefusedWithItsBeginning(String text) {
        assertThatThrownBy(() -> NOTATION.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text.replaceAll("[^ -~]", "?") + "' is not the text of a limit: ");
    }

    @Test
    void parse_longText_isShortenedInTheMessage() {
        for (String text : List.of(
                "v1 token-bucket 100/minute burst=" + "9".repeat(900),
                "v1 " + "x".repeat(900),
                "v1 fixed-window " + "\u00e9".repeat(50_000))) {
            assertThatThrownBy(() -> NOTATION.parse(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .startsWith("'" + text.substring(0, 16))
                    .hasSizeLessThan(350)
                    .matches("[ -~]+");
        }
    }

    /** The simplest custom limit: a sliding log of another name. */
    private record Custom(SlidingLog log, String note) implements LimitAlgorithm {

        @Override
        public Rate rate() {
            return log.rate();
        }

        @Override
        public long capacity() {
            return log.capacity();
        }

        @Override
        public long replenishNanos() {
            return log.replenishNanos();
        }

        @Override
        public int stateSize() {
            return log.stateSize();
        }

        @Override
        public void clear(long[] state, int at, long now) {
            log.clear(state, at, now);
        }

        @Override
        public boolean admits(long[] state, int at, long permits, long now) {
            return log.admits(state, at, permits, now);
        }

        @Override
        public void charge(long[] state, int at, long permits, long now) {
            log.charge(state, at, permits, now);
        }

        @Override
        public void refund(long[] state, int at, long permits, long ageNanos, long now) {
            log.refund(state, at, permits, ageNanos, now);
        }

        @Override
        public long remaining(long[] state, int at, long now) {
            return log.remaining(state, at, now);
        }

        @Override
        public long retryAfterNanos(long[] state, int at, long permits, long now) {
            return log.retryAfterNanos(state, at, permits, now);
        }

        @Override
        public long fullAfterNanos(long[] state, int at, long now) {
            return log.fullAfterNanos(state, at, now);
        }

        static Custom parse(String text) {
            String[] parts = text.split(" ", 2);
            return new Custom(SlidingLog.of(Rate.parse(parts[0])), parts[1]);
        }
    }

    private static LimitNotation withCustom() {
        return NOTATION.with("custom", Custom.class, limit -> limit.rate() + " " + limit.note(), Custom::parse);
    }

    @Test
    void with_customLimit_isWrittenAndRead_withAPenaltyToo() {
        Limit custom = new Custom(SlidingLog.of(Rate.parse("5/minute")), "penalty=1 of=2");
        Limit penalized = penalized(custom, Duration.ofSeconds(3));

        assertThat(withCustom().of(custom)).isEqualTo("v1 custom 5/minute penalty=1 of=2");
        assertThat(withCustom().parse("v1 custom 5/minute penalty=1 of=2")).isEqualTo(custom);
        assertThat(withCustom().of(penalized)).isEqualTo("v1 penalty=3s custom 5/minute penalty=1 of=2");
        assertThat(withCustom().parse(withCustom().of(penalized))).isEqualTo(penalized);
        assertThat(withCustom().parse("v1 concurrency 10/10m")).isEqualTo(Concurrency.of(10));
    }

    @Test
    void with_customLimit_isUnknownToOthers() {
        Limit custom = new Custom(SlidingLog.of(Rate.parse("5/minute")), "x");

        assertThatThrownBy(() -> NOTATION.of(custom))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(Custom.class.getName() + " has no written form; add it by LimitNotation.with");
        assertThatThrownBy(() -> NOTATION.parse("v1 custom 5/minute x"))
                .hasMessageEndingWith("no algorithm is named 'custom', or its parameters are missing");
    }

    @Test
    void with_textThatCannotBeJoined_isRefused() {
        for (String note : List.of("a;b", "a\nb", "\u00e9", " ", "x".repeat(1000))) {
            Limit custom = new Custom(SlidingLog.of(Rate.parse("5/minute")), note);

            assertThatThrownBy(() -> withCustom().of(custom))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must be up to 900 printable ASCII characters without semicolons");
        }
    }

    @Test
    void with_nameOrClassThatIsKnownOrNotValid_isRefused() {
        for (String name : List.of("token-bucket", "custom", "", "Custom", "a b", "penalty=1")) {
            assertThatThrownBy(() -> withCustom().with(name, LimitAlgorithm.class, Limit::toString, Custom::parse))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("name must be");
        }
        assertThatThrownBy(() -> NOTATION.with("other", SlidingLog.class, SlidingLog::toString, text -> {
                    throw new IllegalArgumentException(text);
                }))
                .hasMessageContaining(SlidingLog.class.getName());
    }

    @Test
    void parse_readerThatFails_isToldAsATextThatCannotBeRead() {
        assertThatThrownBy(() -> withCustom().parse("v1 custom 5/minute"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'v1 custom 5/minute' is not the text of a limit: ");
    }
}

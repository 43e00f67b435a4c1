package dev.ratelimit.spring.rules.decision;

import static dev.ratelimit.Fuzz.refusing;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Fuzz;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.field.LegacyFields;
import dev.ratelimit.spring.rules.field.RateLimitDraft;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RateLimitHeadersFuzzTest {

    private static final long MAX_INTEGER = 999_999_999_999_999L;

    private final Fuzz names = Fuzz.of(RateLimitHeadersFuzzTest.class, "/dev/ratelimit/spring/rules/texts.txt");
    private final Random random = new Random(names.seed());
    private final InMemoryStore store = InMemoryStore.create();

    private long upTo(long most) {
        return 1
                + (random.nextLong() & Long.MAX_VALUE)
                        % (1L << (1 + random.nextInt(63 - Long.numberOfLeadingZeros(most))));
    }

    private Limit limit(long periodNanos) {
        Rate rate = Rate.of(upTo(1_000_000), Duration.ofNanos(periodNanos));
        return switch (random.nextInt(3)) {
            case 0 -> FixedWindow.of(rate);
            case 1 -> SlidingWindow.of(rate);
            default -> TokenBucket.of(rate);
        };
    }

    private static long ceilSeconds(long nanos) {
        return -Math.floorDiv(-nanos, 1_000_000_000L);
    }

    private static void assertTold(String field, List<LimitStatus> told, boolean policy) {
        List<StructuredFields.Item> items = StructuredFields.list(field);
        assertThat(items).hasSameSizeAs(told);
        for (int i = 0; i < told.size(); i++) {
            LimitStatus status = told.get(i);
            String name = status.policy().name();
            boolean several = status.policy().limits().size() > 1;
            assertThat(items.get(i).name())
                    .isEqualTo(
                            several
                                    ? name + "/"
                                            + ceilSeconds(status.limit().rate().periodNanos())
                                    : name);
            assertThat(items.get(i).parameters())
                    .isEqualTo(
                            policy
                                    ? Map.of(
                                            "q", status.limit().capacity(),
                                            "w", ceilSeconds(status.limit().replenishNanos()))
                                    : Map.of(
                                            "r", status.remaining(),
                                            "t", ceilSeconds(status.nextAvailableNanos())));
            assertThat(items.get(i).parameters().values()).allMatch(number -> number >= 0 && number <= MAX_INTEGER);
        }
    }

    private String policies(RateLimitHeaders headers, Policy... policies) {
        List<Charge> charges = Stream.of(policies).map(Policy::charge).toList();
        RecordedResponse response = new RecordedResponse();
        write(headers, store.decide(charges).limits(), response);
        return String.valueOf(response.header("RateLimit-Policy"));
    }

    private static void write(RateLimitHeaders headers, List<LimitStatus> told, RecordedResponse response) {
        RateLimitHeaders.Fields fields = headers.fields();
        told.forEach(fields::add);
        fields.write(response);
    }

    @Test
    void write_manyPoliciesOfOneName_leavesRoomForOthers() {
        RateLimitHeaders headers = new RateLimitHeaders(RateLimitDraft.DRAFT_10, null, true);
        Policy second = Policy.of("second", limit(5));
        for (int i = 0; i < 2_000; i++) {
            policies(headers, Policy.of("plan", limit(1 + i % 20)), second);
        }
        Policy other = Policy.of("other", limit(7));

        String first = policies(headers, other, second);

        assertThat(policies(headers, other, second)).isSameAs(first);
    }

    /** A store may tell only the limits that refuse. */
    @Test
    void write_oneOfTheLimitsOfAPolicy_isThatLimit() {
        RateLimitHeaders headers = new RateLimitHeaders(RateLimitDraft.DRAFT_10, null, true);
        Policy several = Policy.of("several", limit(1_000_000_000L), limit(60_000_000_000L));
        List<LimitStatus> told = store.decide(List.of(several.charge())).limits();

        for (List<LimitStatus> part : List.of(told, told.subList(1, 2), told.subList(0, 1), told)) {
            RecordedResponse response = new RecordedResponse();
            write(headers, part, response);
            assertTold(String.valueOf(response.header("RateLimit-Policy")), part, true);
        }
    }

    @Test
    void write_anyPolicies_areStructuredFieldsThatSayHowTheyStand() {
        RateLimitHeaders headers = new RateLimitHeaders(RateLimitDraft.DRAFT_10, LegacyFields.X_RATE_LIMIT, true);
        names.run(refusing(name -> {
            Policy one = Policy.of(name, limit(upTo(1L << 55)));
            Policy two = Policy.of("several", limit(upTo(1L << 30)), limit(upTo(1L << 50)));
            List<Charge> charges = List.of(one.charge("k"), two.charge("k"));
            List<LimitStatus> told = store.decide(charges).limits();
            RecordedResponse response = new RecordedResponse();

            write(headers, told, response);

            assertTold(String.valueOf(response.header("RateLimit-Policy")), told, true);
            assertTold(String.valueOf(response.header("RateLimit")), told, false);
            assertThat(response.header("X-RateLimit-Limit")).matches("[0-9]{1,15}");
            assertThat(response.header("X-RateLimit-Remaining")).matches("[0-9]{1,15}");
            assertThat(response.header("X-RateLimit-Reset")).matches("[0-9]{1,15}");
        }));
    }
}

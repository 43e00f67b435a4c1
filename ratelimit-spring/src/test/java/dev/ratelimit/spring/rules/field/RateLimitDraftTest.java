package dev.ratelimit.spring.rules.field;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RateLimitDraftTest {

    private final LimitStatus rate = status(Policy.of("user", TokenBucket.of(Rate.parse("5/minute"))));
    private final LimitStatus held = status(Policy.of("held", Concurrency.of(4)));

    private static LimitStatus status(Policy policy) {
        return InMemoryStore.create()
                .decide(List.of(policy.charge("k", 3)))
                .limits()
                .get(0);
    }

    @Test
    void draft10_writesQuotaWindowAndWhatIsLeft() {
        RateLimitDraft draft = RateLimitDraft.DRAFT_10;

        assertThat(draft.names()).containsExactly("RateLimit-Policy", "RateLimit");
        assertThat(draft.policyItem("\"user\"", rate.limit())).isEqualTo("\"user\";q=5;w=60");
        assertThat(draft.limitItem("\"user\"", rate)).isEqualTo("\"user\";r=2;t=12");
        assertThat(draft.policyItem("\"held\"", held.limit())).isEqualTo("\"held\";q=4;qu=\"concurrent-requests\"");
        assertThat(draft.limitItem("\"held\"", held)).isEqualTo("\"held\";r=1");
    }

    @Test
    void anotherDraft_isAnotherDescription() {
        RateLimitDraft next = new RateLimitDraft("RateLimit-Policy", "RateLimit", "q", "w", "qu", "a", "w", "c");

        assertThat(next.limitItem("\"user\"", rate)).isEqualTo("\"user\";a=2;w=12;c=3");
        assertThat(next.limitItem("\"held\"", held)).isEqualTo("\"held\";a=1;c=3");
    }

    @Test
    void draftAndBoth_areTheNewest() {
        assertThat(Stream.of(RateLimitProperties.Headers.values()).map(RateLimitProperties.Headers::draft))
                .containsExactly(RateLimitDraft.NEWEST, RateLimitDraft.DRAFT_10, null, RateLimitDraft.NEWEST, null);
    }

    @Test
    void name_ofOneOfSeveralLimits_endsWithItsSeconds() {
        Policy two = Policy.of("two", TokenBucket.of(Rate.parse("1/second")), TokenBucket.of(Rate.parse("5/hour")));

        assertThat(RateLimitDraft.name(two, two.limits().get(0))).isEqualTo("\"two/1\"");
        assertThat(RateLimitDraft.name(rate.policy(), rate.limit())).isEqualTo("\"user\"");
    }

    @Test
    void retryAfter_roundsUpToAtLeastOneSecond() {
        assertThat(WholeSeconds.retryAfter(0)).isEqualTo(1);
        assertThat(WholeSeconds.retryAfter(1_000_000_001)).isEqualTo(2);
        assertThat(WholeSeconds.retryAfter(Long.MAX_VALUE)).isEqualTo(9_223_372_037L);
    }
}

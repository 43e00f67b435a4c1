package dev.ratelimit.spring.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RefusalTextsTest {

    private static final Limit LIMIT = TokenBucket.of(Rate.parse("10/minute"));
    private static final Policy POLICY = Policy.of("p", LIMIT);
    private static final List<String> VIOLATED = List.of("p");

    private final RefusalTexts texts = new RefusalTexts();

    private static RefusalTexts.Text text(String detail) {
        return new RefusalTexts.Text(detail, "1", new byte[0]);
    }

    @Test
    void text_isFoundForTheSameLimitAndWait() {
        RefusalTexts.Text text = text("one");
        texts.keep(POLICY, LIMIT, VIOLATED, 1, text);

        assertThat(texts.find(POLICY, LIMIT, VIOLATED, 1)).isSameAs(text);
        assertThat(texts.find(Policy.of("p", LIMIT), LIMIT, List.of("p"), 1)).isSameAs(text);
    }

    @Test
    void text_isNotFoundForAnotherLimitOrWait() {
        Limit sameCapacity = TokenBucket.of(Rate.parse("10/hour"));
        texts.keep(POLICY, LIMIT, VIOLATED, 1, text("one"));

        assertThat(texts.find(POLICY, LIMIT, VIOLATED, 1 + RefusalTexts.PLACES)).isNull();
        assertThat(texts.find(POLICY, sameCapacity, VIOLATED, 1)).isNull();
        assertThat(texts.find(Policy.of("p", LIMIT, sameCapacity), LIMIT, VIOLATED, 1))
                .isNull();
        assertThat(texts.find(POLICY, LIMIT, List.of("p", "q"), 1)).isNull();
    }

    @Test
    void texts_areBounded() {
        LongStream.range(0, 10_000).forEach(seconds -> texts.keep(POLICY, LIMIT, VIOLATED, seconds, text("one")));

        assertThat(LongStream.range(0, 10_000).filter(seconds -> texts.find(POLICY, LIMIT, VIOLATED, seconds) != null))
                .hasSize(RefusalTexts.PLACES);
    }
}

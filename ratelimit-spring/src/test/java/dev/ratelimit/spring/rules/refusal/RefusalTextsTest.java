package dev.ratelimit.spring.rules.refusal;

import static dev.ratelimit.spring.rules.refusal.RejectionBody.PROBLEM;
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
        return new RefusalTexts.Text(detail, "1", BodyWriter.NONE);
    }

    private static RefusalTexts.Cause cause(long seconds) {
        return new RefusalTexts.Cause(POLICY, LIMIT, VIOLATED, RefusalFormat.DEFAULT, seconds);
    }

    @Test
    void text_isFoundForTheSameLimitAndWait() {
        RefusalTexts.Text text = text("one");
        texts.keep(cause(1), text);

        assertThat(texts.find(cause(1))).isSameAs(text);
        assertThat(texts.find(new RefusalTexts.Cause(
                        Policy.of("p", LIMIT), LIMIT, List.of("p"), new RefusalFormat(429, PROBLEM, null, null), 1)))
                .isSameAs(text);
    }

    @Test
    void text_isNotFoundForAnotherLimitWaitOrFormat() {
        Limit sameCapacity = TokenBucket.of(Rate.parse("10/hour"));
        RefusalFormat format = RefusalFormat.DEFAULT;
        Policy two = Policy.of("p", LIMIT, sameCapacity);
        texts.keep(cause(1), text("one"));

        assertThat(texts.find(cause(1 + RefusalTexts.PLACES))).isNull();
        assertThat(texts.find(new RefusalTexts.Cause(POLICY, sameCapacity, VIOLATED, format, 1)))
                .isNull();
        assertThat(texts.find(new RefusalTexts.Cause(two, LIMIT, VIOLATED, format, 1)))
                .isNull();
        assertThat(texts.find(new RefusalTexts.Cause(POLICY, LIMIT, List.of("p", "q"), format, 1)))
                .isNull();
        assertThat(texts.find(new RefusalTexts.Cause(
                        POLICY, LIMIT, VIOLATED, new RefusalFormat(503, PROBLEM, null, null), 1)))
                .isNull();
    }

    @Test
    void texts_areBounded() {
        LongStream.range(0, 10_000).forEach(seconds -> texts.keep(cause(seconds), text("one")));

        assertThat(LongStream.range(0, 10_000).filter(seconds -> texts.find(cause(seconds)) != null))
                .hasSize(RefusalTexts.PLACES);
    }
}

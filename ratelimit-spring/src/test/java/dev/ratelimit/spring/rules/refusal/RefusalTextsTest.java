package dev.ratelimit.spring.rules.refusal;

import static dev.ratelimit.spring.rules.refusal.RejectionBody.PROBLEM;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RefusalTextsTest {

    private static final Limit LIMIT = TokenBucket.of(Rate.parse("10/minute"));
    private static final Policy POLICY = Policy.of("p", LIMIT);
    private static final List<String> VIOLATED = List.of("p");

    private final List<RefusalTexts.Cause> made = new ArrayList<>();
    private final RefusalTexts texts = new RefusalTexts(cause -> {
        made.add(cause);
        return new RefusalTexts.Text("text " + made.size(), "1", BodyWriter.NONE);
    });

    private static RefusalTexts.Cause cause(long seconds) {
        return new RefusalTexts.Cause(POLICY, LIMIT, VIOLATED, RefusalFormat.DEFAULT, seconds);
    }

    @Test
    void text_isKeptForTheSameLimitAndWait() {
        RefusalTexts.Text text = texts.of(cause(1));

        assertThat(texts.of(cause(1))).isSameAs(text);
        assertThat(texts.of(new RefusalTexts.Cause(
                        Policy.of("p", LIMIT), LIMIT, List.of("p"), new RefusalFormat(429, PROBLEM, null, null), 1)))
                .isSameAs(text);
        assertThat(made).containsExactly(cause(1));
    }

    @Test
    void text_isMadeForAnotherLimitWaitOrFormat() {
        Limit sameCapacity = TokenBucket.of(Rate.parse("10/hour"));
        RefusalFormat format = RefusalFormat.DEFAULT;
        Policy two = Policy.of("p", LIMIT, sameCapacity);
        List<RefusalTexts.Cause> others = List.of(
                cause(1 + RefusalTexts.PLACES),
                new RefusalTexts.Cause(POLICY, sameCapacity, VIOLATED, format, 1),
                new RefusalTexts.Cause(two, LIMIT, VIOLATED, format, 1),
                new RefusalTexts.Cause(POLICY, LIMIT, List.of("p", "q"), format, 1),
                new RefusalTexts.Cause(POLICY, LIMIT, VIOLATED, new RefusalFormat(503, PROBLEM, null, null), 1));

        for (RefusalTexts.Cause other : others) {
            RefusalTexts.Text text = texts.of(cause(1));

            assertThat(texts.of(other)).isNotEqualTo(text);
        }
    }

    @Test
    void texts_areBounded() {
        LongStream.range(0, 10_000).forEach(seconds -> texts.of(cause(seconds)));
        made.clear();

        // from the last one on, each of these makes one more only where another has its place
        LongStream.iterate(9_999, seconds -> seconds >= 0, seconds -> seconds - 1)
                .forEach(seconds -> texts.of(cause(seconds)));
        assertThat(made).hasSize(10_000 - RefusalTexts.PLACES);
    }
}

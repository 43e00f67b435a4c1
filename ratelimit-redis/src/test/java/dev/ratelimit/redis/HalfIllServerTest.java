package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.redis.server.ScriptServer.State;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A server that does only a part of what it is asked, in every proportion of that part. */
class HalfIllServerTest {

    private static final Policy FULL = Policy.of("full", FixedWindow.of(Rate.parse("1/day")));
    private static final Policy TWENTY = Policy.of("twenty", FixedWindow.of(Rate.parse("20/day")));
    private static final Policy HELD = Policy.of("held", Concurrency.of(10));
    private static final Duration STEP = Duration.ofMillis(100);

    private final FakeTicker time = new FakeTicker();
    private final FakeRedis redis = new FakeRedis(time);
    private final Events events = new Events();
    private final RedisStore store = redis.store()
            .denyCache(Duration.ZERO)
            .localShare(0.5)
            .listener(events)
            .build();

    @AfterEach
    void close() {
        store.close();
        events.close();
    }

    static Stream<Arguments> statesAndQuestions() {
        return Stream.of(State.values())
                .filter(state -> state != State.HEALTHY)
                .flatMap(state -> IntStream.of(0, 3, 20).mapToObj(questions -> Arguments.of(state, questions)));
    }

    /** A refusal and a question in turn: neither writes anything. */
    private void ask(int questions) {
        for (int i = 0; i < questions; i++) {
            Decision refused =
                    i % 2 == 0 ? store.peek(List.of(FULL.charge("k"))) : store.decide(List.of(FULL.charge("k")));
            assertThat(refused.admitted()).isFalse();
        }
    }

    /** A permit that is charged and given back, so that its key is written and deleted, and one that stays charged. */
    private boolean charge() {
        Decision held = store.decide(List.of(HELD.charge("k")));
        store.refund(held);
        return store.decide(List.of(TWENTY.charge("k"))).admitted();
    }

    @ParameterizedTest(name = "{0}, {1} questions per charge")
    @MethodSource("statesAndQuestions")
    @DisplayName(
            "one warning, no more than the share of a key, no return before it is well, and then within three seconds")
    void server_halfIll_isLeftAloneUntilItIsWell(State state, int questions) {
        assertThat(store.decide(List.of(FULL.charge("k"))).admitted()).isTrue();
        for (int i = 0; i < 4; i++) {
            assertThat(charge()).isTrue();
        }
        redis.state(state);

        int charges = 0;
        int admitted = 0;
        while (store.available() && charges < 20) {
            ask(questions);
            charges++;
            admitted += charge() ? 1 : 0;
        }
        assertThat(store.available()).isFalse();
        // ten commands, of two each
        assertThat(charges).isLessThanOrEqualTo(5);

        for (int i = 0; i < 100; i++) {
            time.advance(STEP);
            ask(questions);
            admitted += charge() ? 1 : 0;
            assertThat(store.available()).isFalse();
        }
        assertThat(events.warnings()).hasSize(1);
        // in memory, two of ten are used for the four of twenty; what the server has charged before the failure is its
        // own
        assertThat(admitted).isLessThanOrEqualTo(8 + (state == State.NO_PERMISSION_TO_DELETE ? 1 : 0));

        redis.state(State.HEALTHY);
        int steps = 0;
        while (!store.available() && steps < 30) {
            time.advance(STEP);
            steps++;
        }
        assertThat(store.available()).isTrue();
        assertThat(events.warnings()).hasSize(2);
        time.advance(Duration.ofSeconds(3));
        Decision held = store.peek(List.of(HELD.charge("k")));
        assertThat(RedisStore.decidedByRedis(held)).isTrue();
        assertThat(held.limits().get(0).remaining()).isEqualTo(10);
    }
}

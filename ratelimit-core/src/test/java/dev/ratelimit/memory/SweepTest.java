package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SweepTest {

    private static final Limit BUCKET = TokenBucket.of(Rate.parse("5/second"));

    private final SetTicker ticker = new SetTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();

    /** A limit that throws when asked whether a key is full. */
    private static Limit broken() {
        return (LimitAlgorithm) Proxy.newProxyInstance(
                LimitAlgorithm.class.getClassLoader(),
                new Class<?>[] {LimitAlgorithm.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("fullAfterNanos")) {
                        throw new IllegalStateException("broken");
                    }
                    return method.invoke(BUCKET, arguments);
                });
    }

    @Test
    @DisplayName("a limit that throws prevents neither the removal of other policies' keys nor the next sweep")
    void sweep_oneLimitThrows_othersAreSweptAndTheNextSweepIsSet() {
        List<Policy> policies =
                IntStream.range(0, 10).mapToObj(i -> Policy.of("p" + i, BUCKET)).toList();
        store.tryCharge(Policy.of("broken", broken()), "k", 1);
        policies.forEach(policy -> store.tryCharge(policy, "k", 1));
        ticker.advance(Duration.ofSeconds(30).toNanos());

        assertThatThrownBy(ticker::ring).hasMessage("broken");

        assertThat(policies).allMatch(policy -> store.keys(policy.name()) == 0);
        assertThat(store.keys("broken")).isEqualTo(1);
        assertThat(ticker.alarms()).isEqualTo(1);
    }

    static Stream<Throwable> failures() {
        return Stream.of(new RejectedExecutionException("shut down"), new InternalError("no thread"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void charge_sweepCannotBeScheduled_isDecidedAndTheNextCallTriesAgain(Throwable failure) {
        AtomicInteger attempts = new AtomicInteger();
        InMemoryStore unswept = InMemoryStore.builder()
                .ticker(ticker)
                .scheduler((task, delayNanos) -> {
                    attempts.incrementAndGet();
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) failure;
                })
                .build();
        Policy policy = Policy.of("p", BUCKET);

        assertThat(unswept.tryCharge(policy, "k", 5)).isTrue();
        assertThat(unswept.tryCharge(policy, "k", 1)).isFalse();
        assertThat(unswept.decide(List.of(policy.charge("l"))).admitted()).isTrue();

        assertThat(attempts).hasValue(3);
    }

    @Test
    @DisplayName("limits without keys lose their numbers, so that the limits of the other keys get them")
    void sweep_limitsWithoutNumbersHaveNoKeys_freesTheirMemory() {
        // few enough keys for one table
        InMemoryStore small =
                InMemoryStore.builder().ticker(ticker).maxKeys(1_000).build();
        Policy daily = Policy.of("p", TokenBucket.of(Rate.parse("5/day")));
        for (int i = 0; i < 2 * TableLimits.NUMBERED; i++) {
            small.tryCharge(Policy.of("p", TokenBucket.of(Rate.parse(1 + i + "/second"))), "brief" + i, 1);
            for (int k = 0; k < 3; k++) {
                small.tryCharge(daily, "daily" + i + "." + k, 1);
            }
        }
        long withLimits = small.bytes("p");

        ticker.advance(Duration.ofMinutes(1).toNanos());
        ticker.ring();
        long swept = small.bytes("p");
        ticker.ring();

        assertThat(small.keys("p")).isEqualTo(6L * TableLimits.NUMBERED);
        assertThat(swept).isLessThan(withLimits);
        assertThat(small.bytes("p")).isEqualTo(swept);
    }
}

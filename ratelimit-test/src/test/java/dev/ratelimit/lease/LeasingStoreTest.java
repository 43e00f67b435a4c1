package dev.ratelimit.lease;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LeasingStoreTest {

    private static final Rate RATE = Rate.parse("10000/day");

    /** After so many, there is a lease of as many. */
    private static final int FIRST_ONES = 8;

    private final FakeTicker time = new FakeTicker();
    private final Shared shared =
            new Shared(InMemoryStore.builder().ticker(time).build());
    private final LeasingStore store = instance(decision -> true);

    /** The store of all instances: its answers about leases may be late, and what it is asked is counted. */
    private static final class Shared extends ForwardingStore {

        private final List<Runnable> late = new ArrayList<>();
        private boolean delays;
        private int asked;

        Shared(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            asked++;
            return super.decide(charges);
        }

        @Override
        public CompletionStage<Decision> decideAsync(List<Charge> charges) {
            CompletableFuture<Decision> answer = new CompletableFuture<>();
            Decision decision = decide(charges);
            if (delays) {
                late.add(() -> answer.complete(decision));
            } else {
                answer.complete(decision);
            }
            return answer;
        }

        @Override
        public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
            return store().refundAsync(decision, part);
        }

        void deliver() {
            delays = false;
            late.forEach(Runnable::run);
        }

        /** The store stays open for other instances. */
        @Override
        public void close() {}
    }

    private LeasingStore instance(Predicate<Decision> leasable) {
        return new LeasingStore(shared, 0.1, Duration.ofSeconds(1), leasable, time, time);
    }

    static Stream<Limit> limits() {
        return Stream.of(TokenBucket.of(RATE), FixedWindow.of(RATE), SlidingWindow.of(RATE), SlidingLog.of(RATE));
    }

    private long remaining(Policy policy) {
        return shared.peek(List.of(policy.charge("k"))).limits().get(0).remaining();
    }

    private int admitted(Policy policy, int times) {
        int admitted = 0;
        for (int i = 0; i < times; i++) {
            admitted += store.decide(List.of(policy.charge("k"))).admitted() ? 1 : 0;
        }
        return admitted;
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_busyKey_asksSeldom_andRefundsTheRest(Limit limit) {
        Policy policy = Policy.of("p", limit);

        assertThat(admitted(policy, 2000)).isEqualTo(2000);

        assertThat(shared.asked).isLessThan(100);
        assertThat(remaining(policy)).isLessThan(8000);
        store.close();
        assertThat(remaining(policy)).isEqualTo(8000);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_untilTheLimit_admitsExactlyThat(Limit limit) {
        assertThat(admitted(Policy.of("p", limit), 12_000)).isEqualTo(10_000);
    }

    @Test
    void decide_rarelyUsedKey_isNotLeased() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        for (int i = 0; i < 50; i++) {
            store.decide(List.of(policy.charge("k")));
            time.advance(Duration.ofMillis(200));
        }

        assertThat(remaining(policy)).isEqualTo(9950 + 1);
    }

    static Stream<Policy> notLeased() {
        return Stream.of(
                Policy.of("penalized", TokenBucket.of(RATE)).withPenalty(Duration.ofMinutes(1)),
                Policy.of("small", TokenBucket.of(Rate.parse("99/day"))),
                Policy.of("one of two is small", TokenBucket.of(RATE), FixedWindow.of(Rate.parse("99/second"))),
                Policy.of("held", Concurrency.of(1000)));
    }

    @ParameterizedTest
    @MethodSource("notLeased")
    void decide_policyThatMustBeExact_isNotLeased(Policy policy) {
        long before = remaining(policy);

        assertThat(admitted(policy, 50)).isEqualTo(50);

        assertThat(remaining(policy)).isEqualTo(before - 50);
    }

    @Test
    void decide_instanceDecidesAlone_isNotLeased() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        LeasingStore alone = instance(decision -> false);
        for (int i = 0; i < 50; i++) {
            assertThat(alone.tryCharge(policy.charge("k"))).isTrue();
        }

        assertThat(remaining(policy)).isEqualTo(9950);
    }

    @Test
    void decide_leaseIsDecidedAlone_goesBackAtOnce() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        LeasingStore failing = instance(decision -> decision.charges().get(0).permits() == 1);
        for (int i = 0; i < 50; i++) {
            assertThat(failing.tryCharge(policy.charge("k"))).isTrue();
        }

        assertThat(remaining(policy)).isEqualTo(9950);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void decide_leasedAndExactPolicies_areAllOrNothing(boolean async) {
        Policy many = Policy.of("many", TokenBucket.of(RATE));
        Policy few = Policy.of("few", TokenBucket.of(Rate.parse("3/day")));
        admitted(many, 500);
        int admitted = 0;
        for (int i = 0; i < 500; i++) {
            List<Charge> both = List.of(many.charge("k"), few.charge("k"));
            Decision decision =
                    async ? store.decideAsync(both).toCompletableFuture().join() : store.decide(both);
            assertThat(decision.complete()).isTrue();
            admitted += decision.admitted() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(3);
        store.close();
        assertThat(remaining(many)).isEqualTo(10_000 - 503);
    }

    @Test
    void decideAsync_cancelledWhileTheStoreIsAsked_leavesNothingCharged() {
        Policy many = Policy.of("many", TokenBucket.of(RATE));
        Policy few = Policy.of("few", TokenBucket.of(Rate.parse("3/day")));
        admitted(many, 500);
        shared.delays = true;
        CompletableFuture<Decision> decided =
                store.decideAsync(List.of(many.charge("k"), few.charge("k"))).toCompletableFuture();

        assertThat(decided.cancel(false)).isTrue();
        shared.deliver();

        store.close();
        assertThat(remaining(many)).isEqualTo(9500);
        assertThat(remaining(few)).isEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void refund_paidByLease_comesBack_alsoAfterItsEnd(Limit limit) {
        Policy policy = Policy.of("p", limit);
        admitted(policy, 500);
        Decision one = store.decide(List.of(policy.charge("k", 20)));
        Decision other = store.decide(List.of(policy.charge("k", 20)));
        int asked = shared.asked;

        store.refund(one);
        store.close();
        store.refund(other, List.of(policy.charge("k", 15)));

        assertThat(shared.asked).isEqualTo(asked);
        assertThat(remaining(policy)).isEqualTo(9495);
    }

    @Test
    void refund_moreThanCharged_isRefusedWithoutEffect() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        admitted(policy, 500);
        Decision decision = store.decide(List.of(policy.charge("k")));

        assertThatIllegalArgumentException().isThrownBy(() -> store.refund(decision, List.of(policy.charge("k", 2))));

        store.close();
        assertThat(remaining(policy)).isEqualTo(9499);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void lease_isNotUsedAnyMore_goesBackWithoutFurtherRequests(Limit limit) {
        Policy policy = Policy.of("p", limit);
        admitted(policy, 500);
        assertThat(remaining(policy)).isLessThan(9500);

        time.advance(Duration.ofSeconds(1));

        assertThat(remaining(policy)).isEqualTo(9500);
        assertThat(time.alarms()).isEqualTo(1);
    }

    /** After so many charges, the second lease, of 16 permits, has 14 left. */
    private static final int INTO_SECOND_LEASE = 2 * FIRST_ONES + 1 + 2;

    /** The process stands still, so that the alarm comes late. */
    private void standStill(Duration pause) {
        time.advanceOnRead(pause);
        time.nanos();
        time.advanceOnRead(Duration.ZERO);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 10, 1000})
    void lease_endsLate_isNotSpent_andReturnsWhatABucketHasNotRefilled(int seconds) {
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("1/second"), 1000));
        FakeTicker elsewhere = new FakeTicker();
        RateLimitStore server = InMemoryStore.builder().ticker(elsewhere).build();
        LeasingStore standing = new LeasingStore(server, 0.1, Duration.ofSeconds(1), decision -> true, time, time);
        for (int i = 0; i < INTO_SECOND_LEASE; i++) {
            assertThat(standing.tryCharge(policy.charge("k"))).isTrue();
        }
        assertThat(server.peek(List.of(policy.charge("k")))).hasRemaining(1000 - INTO_SECOND_LEASE - 14);

        standStill(Duration.ofSeconds(seconds));
        assertThat(standing.tryCharge(policy.charge("k"))).isTrue();
        standing.close();

        assertThat(server.peek(List.of(policy.charge("k"))))
                .hasRemaining(1000 - INTO_SECOND_LEASE - 14 - 1 + Math.max(0, 14 - seconds - 1));
    }

    @Test
    void lease_ofWindowEndsLate_goesBackWhole() {
        Policy policy = Policy.of("p", FixedWindow.of(RATE));
        admitted(policy, 500);
        standStill(Duration.ofMinutes(1));

        store.close();

        assertThat(remaining(policy)).isEqualTo(9500);
    }

    @Test
    void lease_windowEnds_isNotSpentInTheNext() {
        Policy policy = Policy.of("p", FixedWindow.of(Rate.parse("10000/500ms")));
        admitted(policy, INTO_SECOND_LEASE);
        time.advance(Duration.ofMillis(500));
        int asked = shared.asked;

        admitted(policy, 1);

        assertThat(shared.asked).isEqualTo(asked + 1);
        assertThat(remaining(policy)).isEqualTo(9999);
    }

    @Test
    void limit_changes_isAskedForAnew() {
        Policy before = Policy.of("p", TokenBucket.of(RATE));
        Policy after = Policy.of("p", TokenBucket.of(Rate.parse("200/day")));
        admitted(before, 500);
        long left = shared.peek(List.of(after.charge("k"))).limits().get(0).remaining();

        assertThat(store.decide(List.of(after.charge("k")))).isAdmitted().hasRemaining(left - 1);
    }

    @Test
    void reset_leasedKey_isFullAgain_andSpendsNoLease() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        admitted(policy, 500);

        assertThat(store.reset(policy, "k")).isTrue();
        assertThat(remaining(policy)).isEqualTo(10_000);
        admitted(policy, 1);

        assertThat(remaining(policy)).isEqualTo(9999);
        store.close();
        assertThat(remaining(policy)).isEqualTo(9999);
    }

    @Test
    void reset_leaseIsOnItsWay_isNeitherSpentNorReturned() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        shared.delays = true;
        admitted(policy, FIRST_ONES);

        assertThat(store.reset(policy, "k")).isTrue();
        assertThat(shared.tryCharge(policy.charge("k", 5000))).isTrue();
        shared.deliver();
        admitted(policy, 1);
        store.close();

        assertThat(remaining(policy)).isEqualTo(4999);
        assertThat(time.alarms()).isEqualTo(1);
    }

    @Test
    void close_leaseIsOnItsWay_returnsIt() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        shared.delays = true;
        admitted(policy, FIRST_ONES);
        time.schedule(shared::deliver, 0);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(store::close);
        // the system's scheduler waits for it
        time.advance(Duration.ZERO);

        closed.join();

        assertThat(remaining(policy)).isEqualTo(9992);
    }

    @Test
    void statuses_ofALease_countWhatIsUnspent() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        admitted(policy, 500);
        long last = store.decide(List.of(policy.charge("k"))).limits().get(0).remaining();

        LimitStatus next = store.decide(List.of(policy.charge("k"))).limits().get(0);

        assertThat(last).isEqualTo(9499);
        assertThat(next.remaining()).isEqualTo(9498);
        assertThat(next.fullAfterNanos()).isPositive();
    }

    @Test
    void decide_manyKeys_forgetsIdleOnes() {
        Policy policy = Policy.of("p", TokenBucket.of(RATE));
        for (int key = 0; key < 10_000; key++) {
            store.decide(List.of(policy.charge("key " + key)));
        }
        assertThat(admitted(policy, 50)).isEqualTo(50);
        assertThat(remaining(policy)).as("no place").isEqualTo(9950);

        time.advance(Duration.ofSeconds(2));
        admitted(policy, 50);

        assertThat(remaining(policy)).isLessThan(9900);
    }

    /** One of them is killed with its leases, whose permits nobody gets. */
    @ParameterizedTest
    @MethodSource("limits")
    void decide_severalInstances_neverExceedTheLimit(Limit limit) throws InterruptedException {
        Policy policy = Policy.of("p", limit);
        AtomicInteger admitted = new AtomicInteger();
        List<LeasingStore> instances = List.of(store, instance(decision -> true), instance(decision -> true));
        List<Thread> threads = Stream.concat(instances.stream(), instances.stream())
                .map(instance -> new Thread(() -> {
                    for (int i = 0; i < 3000; i++) {
                        admitted.addAndGet(instance.tryCharge(policy.charge("k")) ? 1 : 0);
                    }
                }))
                .toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        instances.get(0).close();
        instances.get(1).close();

        assertThat(admitted.get()).isBetween(9000, 10_000);
        assertThat(admitted.get() + remaining(policy)).isLessThanOrEqualTo(10_000);
    }
}

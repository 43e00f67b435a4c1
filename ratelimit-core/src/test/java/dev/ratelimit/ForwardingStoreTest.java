package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForwardingStoreTest {

    private static final Policy POLICY = Policy.of("api", TokenBucket.of(Rate.parse("5/day")));

    /** Notes what it is asked, and forwards it. */
    private static class Noting extends ForwardingStore {

        private final List<String> calls = new ArrayList<>();

        Noting(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            calls.add("decide");
            return super.decide(charges);
        }

        @Override
        public Decision peek(List<Charge> charges) {
            calls.add("peek");
            return super.peek(charges);
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            calls.add("refund");
            super.refund(decision, part);
        }

        @Override
        public boolean reset(Policy policy, String key) {
            calls.add("reset");
            return super.reset(policy, key);
        }

        @Override
        public void close() {
            calls.add("close");
            super.close();
        }
    }

    private final Noting inner = new Noting(InMemoryStore.create());
    private final Noting outer = new Noting(inner);

    @Test
    void tryCharge_inAnyForm_isSeenInDecide() {
        assertThat(outer.tryCharge(POLICY.charge("alice"))).isTrue();
        assertThat(outer.tryCharge(POLICY, "alice", 1)).isTrue();
        assertThat(outer.tryCharge(List.of(POLICY.charge("alice", 3)))).isTrue();
        assertThat(outer.tryCharge(POLICY, "alice", 1)).isFalse();

        assertThat(outer.calls).containsExactly("decide", "decide", "decide", "decide");
        assertThat(inner.calls).isEqualTo(outer.calls);
    }

    @Test
    void refund_ofAllOrAPart_isSeenInOneMethod() {
        Decision decision = outer.decide(List.of(POLICY.charge("alice", 5)));

        outer.refund(decision, List.of(POLICY.charge("alice", 2)));
        assertThat(outer.tryCharge(POLICY, "alice", 2)).isTrue();
        outer.refund(decision);

        assertThat(outer.calls).containsExactly("decide", "refund", "decide", "refund");
        assertThat(inner.calls).isEqualTo(outer.calls);
    }

    @Test
    void otherCalls_areForwarded() {
        assertThat(outer.peek(List.of(POLICY.charge("alice", 5))).admitted()).isTrue();
        assertThat(outer.reset(POLICY, "alice")).isTrue();
        outer.close();

        assertThat(inner.calls).containsExactly("peek", "reset", "close");
    }
}

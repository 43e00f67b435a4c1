package dev.ratelimit.spring.rules;

import static dev.ratelimit.spring.rules.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies.Change;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Changes under load, and changes that several instances share. */
class LiveChangesTest {

    private static final Duration STEP = Duration.ofMillis(2);

    /** What instances share; the first that brings the next version wins. */
    private static final class Register implements SharedChanges {

        private Changes shared = Changes.NONE;
        private int calls;

        @Override
        public Changes replace(Changes next) {
            calls++;
            if (next.version() == shared.version() + 1) {
                shared = next;
            }
            return shared;
        }
    }

    private final Register register = new Register();

    private LiveRules instance(String... properties) {
        LiveRules live = new LiveRules(properties);
        live.operations.share(register);
        return live;
    }

    private static TokenBucket limit(String rate) {
        return TokenBucket.of(Rate.parse(rate));
    }

    /** Requests at 500 a second for this time; returns how many were admitted. */
    private static int load(LiveRules live, Duration time) {
        int admitted = 0;
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(STEP)) {
            admitted += live.admitted(1, get("/"));
            live.ticker.advance(STEP);
        }
        return admitted;
    }

    @Test
    void limit_changedUnderLoad_holdsFromTheNextDecision_andBackWithoutABurst() {
        LiveRules live = new LiveRules("p.limit=100/second");
        assertThat(load(live, Duration.ofSeconds(2))).isBetween(299, 300);

        live.operations.change("p", Change.toLimit("10/second"));

        // the bucket was empty before, so it is now
        assertThat(load(live, Duration.ofMillis(90))).isLessThanOrEqualTo(1);
        assertThat(load(live, Duration.ofSeconds(3))).isBetween(29, 31);

        live.operations.restore("p");

        // ten in this time, and for what was left of one permit in ten as much of ten in a hundred
        assertThat(load(live, Duration.ofMillis(100))).isBetween(10, 20);
        assertThat(load(live, Duration.ofSeconds(2))).isBetween(199, 201);
    }

    @Test
    void limit_changedAndBack_overAndOver_givesNobodyMore() {
        LiveRules live = new LiveRules("p.limit=100/second");
        int admitted = load(live, Duration.ofSeconds(1));

        for (int i = 0; i < 100; i++) {
            live.operations.change("p", Change.toLimit("10/second"));
            admitted += load(live, STEP);
            live.operations.restore("p");
            admitted += load(live, STEP);
        }

        // 1.4 s of at most 100 a second, and the burst at the start
        assertThat(admitted).isLessThanOrEqualTo(100 + 140);
    }

    @Test
    void change_isSharedOnce_andAdoptedByOthers() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");

        one.operations.change("p", Change.toLimit("5/hour"));
        other.operations.adopt(register.shared);

        assertThat(register.calls).isEqualTo(1);
        assertThat(other.operations.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(other.operations.report("p", null, false)).containsEntry("changed", "limit 5/hour");
        one.operations.restore("p");
        other.operations.adopt(register.shared);
        assertThat(other.operations.policy("p").limits()).containsExactly(limit("10/hour"));
    }

    @Test
    void change_thatIsWrong_isNotShared() {
        LiveRules one = instance("p.limit=10/hour");

        assertThatThrownBy(() -> one.operations.change("p", Change.toLimit("never")))
                .isInstanceOf(RateLimitConfigurationException.class);
        assertThatThrownBy(() -> one.operations.change("q", Change.toLimit("5/hour")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(register.calls).isZero();
    }

    @Test
    void changes_atTheSameTime_areBothInForce() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        one.operations.change("p", Change.toLimit("5/hour"));
        one.operations.change("q", Change.toMode(Mode.SHADOW));

        // the other one knows none of these yet
        other.operations.change("p", Change.toMode(Mode.OFF));
        one.operations.adopt(register.shared);

        for (LiveRules live : new LiveRules[] {one, other}) {
            assertThat(live.operations.changes()).isEqualTo(register.shared);
            assertThat(live.operations.policy("p").limits()).containsExactly(limit("5/hour"));
            assertThat(live.operations.mode("p")).isEqualTo(Mode.OFF);
            assertThat(live.operations.mode("q")).isEqualTo(Mode.SHADOW);
        }
    }

    @Test
    void change_thatOnlyTogetherWithAnothersIsWrong_isRefused_andTheOthersIsInForce() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");
        one.operations.change("p", new Change(null, 20L, null));

        assertThatThrownBy(() -> other.operations.change("p", Change.toLimit("10/hour; 50/day")))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining("burst needs a policy with a single limit");

        assertThat(other.operations.changes()).isEqualTo(register.shared);
        assertThat(other.operations.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("10/hour"), 20));
    }

    @Test
    void change_thatCannotBeShared_isRefused() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.operations.change("p", Change.toLimit("9/hour"));
        one.operations.share(next -> {
            throw new IllegalStateException("no answer");
        });

        assertThatThrownBy(() -> one.operations.change("p", Change.toLimit("5/hour")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.operations.restore("p")).isInstanceOf(IllegalStateException.class);

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("9/hour"));
    }

    @Test
    void adopt_ofAnOlderVersion_changesNothing() {
        LiveRules one = instance("p.limit=10/hour");
        one.operations.change("p", Change.toLimit("5/hour"));
        Changes older = register.shared;
        one.operations.change("p", Change.toLimit("6/hour"));

        one.operations.adopt(older);
        one.operations.adopt(Changes.NONE);

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("6/hour"));
    }

    @Test
    void adopt_ofTheSameVersionOfAnother_isDecidedByWhatIsShared() {
        LiveRules one = instance("p.limit=10/hour");
        one.operations.change("p", Change.toLimit("5/hour"));

        one.operations.adopt(new Changes(1, Map.of("p", Change.toLimit("7/hour"))));

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("7/hour"));
    }

    @Test
    void adopt_ofWhatThisInstanceCannotApply_appliesTheRest_andKeepsItForOthers() {
        LiveRules other = instance(
                "p.limit=10/hour", "ratelimit.policies.w.limit=10/hour", "ratelimit.policies.w.algorithm=fixed-window");
        Changes changes = new Changes(
                3,
                Map.of(
                        "gone", Change.toLimit("5/hour"),
                        "w", new Change(null, 20L, null),
                        "p", Change.toLimit("5/hour")));
        register.shared = changes;

        other.operations.adopt(changes);
        assertThat(other.operations.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(other.operations.policy("w").limits().get(0).capacity()).isEqualTo(10);
        assertThat(other.operations.report("w", null, false)).doesNotContainKey("changed");

        other.operations.change("p", Change.toLimit("6/hour"));

        assertThat(register.shared.version()).isEqualTo(4);
        assertThat(register.shared.byPolicy()).containsOnlyKeys("gone", "w", "p");
    }

    @Test
    void change_againstOthersWhoAreAlwaysFirst_endsWithAnError() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.operations.share(next ->
                new Changes(next.version(), Map.of("p", Change.toLimit(next.version() + "/hour"))));

        assertThatThrownBy(() -> one.operations.change("p", Change.toLimit("5/minute")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("try again");
    }
}

package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ratelimit.Rate;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Changes under load, and changes that several instances share. */
@ExtendWith(OutputCaptureExtension.class)
class LiveChangesTest {

    private static final Duration STEP = Duration.ofMillis(2);

    /** What instances share, as a server does that loses it from time to time. */
    private static final class Register implements SharedChanges {

        private Changes shared = Changes.NONE;
        private int calls;

        /** Happens while an instance waits for the answer. */
        private Runnable meanwhile = () -> {};

        @Override
        public Answer exchange(Changes known, Changes change) {
            calls++;
            meanwhile.run();
            shared = shared.and(known);
            boolean accepted = shared.equals(known);
            shared = accepted ? shared.and(change.at(shared.latest() + 1)) : shared;
            return new Answer(shared, accepted);
        }
    }

    private final Register register = new Register();

    private LiveRules instance(String... properties) {
        LiveRules live = new LiveRules(properties);
        live.operations.share(register);
        return live;
    }

    @Test
    void change_isAnEvent_onEachInstance_andWhatChangesNothingIsNone() {
        List<Object> here = new ArrayList<>();
        List<Object> there = new ArrayList<>();
        LiveRules first = instance("p.limit=100/minute");
        LiveRules second = instance("p.limit=100/minute");
        first.operations.identify(() -> "alice");
        first.operations.publishTo(new QueuedEvents(here::add, Runnable::run), false);
        second.operations.publishTo(new QueuedEvents(there::add, Runnable::run), false);

        first.operations.change("p", RateLimitChange.toLimit("50/minute"));
        first.operations.change("p", RateLimitChange.toLimit("50/minute"));
        second.operations.adopt(register.shared);
        second.operations.adopt(register.shared);

        String before = "100/minute (token-bucket), mode enforce";
        String now = first.rules.inForce().version("p").toString();
        assertThat(now).startsWith("50/minute");
        assertThat(here).containsExactly(new RateLimitChangedEvent("p", Cause.OPERATOR, "alice", before, now));
        assertThat(there).containsExactly(new RateLimitChangedEvent("p", Cause.OTHER_INSTANCE, null, before, now));
    }

    @Test
    void instanceThatStarts_withAnotherConfigurationThanThatOfTheChange_warnsOnce(CapturedOutput output) {
        LiveRules before = instance("p.limit=100/minute");
        before.operations.identify(() -> "alice");
        before.operations.change(
                "p",
                RateLimitChange.toLimit("50/minute")
                        .lasting(Duration.ofHours(1))
                        .because("release"));
        before.operations.change("p", RateLimitChange.toMode(Mode.SHADOW));

        LiveRules deployed = instance("p.limit=200/minute");
        deployed.operations.adopt(register.shared);
        deployed.operations.adopt(register.shared.and(changed(1, "q", RateLimitChange.toLimit("1/second"))));

        String end = String.valueOf(before.operations.history(2).get(1).until());
        assertThat(output.getAll().lines().filter(line -> line.contains("does not have the")))
                .singleElement()
                .asString()
                .contains("WARN")
                .contains(
                        "Rate limit 'p' does not have the limit that is configured now: 200/minute. In force is 50/minute,"
                                + " which 'alice' has set at ")
                .contains(", because of 'release', when 100/minute was configured, and which lasts until " + end + ".")
                .contains("POST {\"restore\": true} to /actuator/ratelimits/p");
        assertThat(changes(deployed).get(0))
                .containsEntry("property", "limit")
                .containsEntry("configured", "100/minute")
                .containsEntry("configuredNow", "200/minute");
        assertThat(changes(deployed).get(1)).containsEntry("property", "mode").doesNotContainKey("configuredNow");
        assertThat(changes(before)).allSatisfy(change -> assertThat(change).doesNotContainKey("configuredNow"));
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> changes(LiveRules live) {
        return (List<Map<String, Object>>)
                Objects.requireNonNull(live.operations.report("p", null, false).get("changes"));
    }

    @Test
    void change_withAnEnd_endsOnAllInstances_alsoIfItIsLearntAfterwards() {
        LiveRules first = instance("p.limit=100/minute");
        LiveRules second = instance("p.limit=100/minute");
        first.operations.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofMinutes(1)));
        second.operations.adopt(register.shared);
        assertThat(second.operations.isChanged("p")).isTrue();

        first.ticker.advance(Duration.ofMinutes(1));
        second.ticker.advance(Duration.ofMinutes(1));
        LiveRules late = instance("p.limit=100/minute");
        late.ticker.advance(Duration.ofMinutes(1));
        late.operations.adopt(register.shared);

        assertThat(List.of(first, second, late))
                .allSatisfy(live -> assertThat(live.operations.isChanged("p")).isFalse());
        assertThat(register.calls).isEqualTo(1);
    }

    @Test
    @Timeout(30)
    void change_thatHasWaitedTooLongForAnother_isRefused_withoutAQuestion() throws Exception {
        LiveRules live = instance("p.limit=100/minute");
        AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
        Thread waiting = new Thread(() ->
                refusal.set(catchThrowable(() -> live.operations.change("p", RateLimitChange.toLimit("20/minute")))));
        register.meanwhile = () -> {
            waiting.start();
            while (waiting.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            live.ticker.advance(Duration.ofSeconds(3));
        };

        live.operations.change("p", RateLimitChange.toLimit("50/minute"));
        waiting.join();

        assertThat(refusal.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("took too long");
        assertThat(register.calls).isEqualTo(1);
        assertThat(live.operations.policy("p").limits().get(0)).isEqualTo(TokenBucket.of(Rate.parse("50/minute")));
    }

    @Test
    void change_whoseAttemptsTakeTooLong_isRefused() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        AtomicInteger questions = new AtomicInteger();
        live.operations.share((known, change) -> {
            questions.incrementAndGet();
            live.ticker.advance(Duration.ofSeconds(1));
            return new SharedChanges.Answer(known, false);
        });

        assertThatThrownBy(() -> live.operations.change("p", RateLimitChange.toLimit("50/minute")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("took too long");

        assertThat(questions).hasValue(2);
    }

    @Test
    void change_endsInTime_whileAnotherWaitsForAnAnswer() {
        LiveRules live = instance("p.limit=100/minute");
        live.operations.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofMinutes(1)));
        List<Boolean> changedMeanwhile = new ArrayList<>();
        register.meanwhile = () -> {
            CompletableFuture.runAsync(() -> live.ticker.advance(Duration.ofMinutes(1)))
                    .orTimeout(5, TimeUnit.SECONDS)
                    .join();
            changedMeanwhile.add(live.operations.isChanged("p"));
        };

        live.operations.change("p", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(changedMeanwhile).containsExactly(false);
        assertThat(live.operations.mode("p")).isEqualTo(Mode.SHADOW);
        assertThat(live.operations.policy("p").limits().get(0)).isEqualTo(TokenBucket.of(Rate.parse("100/minute")));
    }

    private static Changes changed(long at, String policy, RateLimitChange change) {
        return Changes.of(policy, change, false).at(at);
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

        live.operations.change("p", RateLimitChange.toLimit("10/second"));

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
            live.operations.change("p", RateLimitChange.toLimit("10/second"));
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

        one.operations.change("p", RateLimitChange.toLimit("5/hour"));
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

        assertThatThrownBy(() -> one.operations.change("p", RateLimitChange.toLimit("never")))
                .isInstanceOf(RateLimitConfigurationException.class);
        assertThatThrownBy(() -> one.operations.change("q", RateLimitChange.toLimit("5/hour")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(register.calls).isZero();
    }

    @Test
    void changes_atTheSameTime_areBothInForce() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        one.operations.change("p", RateLimitChange.toLimit("5/hour"));
        one.operations.change("q", RateLimitChange.toMode(Mode.SHADOW));

        // the other one knows none of these yet
        other.operations.change("p", RateLimitChange.toMode(Mode.OFF));
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
        one.operations.change("p", new RateLimitChange(null, 20L, null));

        assertThatThrownBy(() -> other.operations.change("p", RateLimitChange.toLimit("10/hour; 50/day")))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining("burst needs a policy with a single limit");

        assertThat(other.operations.changes()).isEqualTo(register.shared);
        assertThat(other.operations.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("10/hour"), 20));
    }

    @Test
    void change_thatCannotBeShared_isRefused() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.operations.change("p", RateLimitChange.toLimit("9/hour"));
        one.operations.share((known, change) -> {
            throw new IllegalStateException("no answer");
        });

        assertThatThrownBy(() -> one.operations.change("p", RateLimitChange.toLimit("5/hour")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.operations.restore("p")).isInstanceOf(IllegalStateException.class);

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("9/hour"));
    }

    @Test
    void adopt_thatFails_isTriedAgain() {
        AtomicBoolean failing = new AtomicBoolean();
        RequestRules rules = RequestRules.withoutRequests(
                LiveRules.bind("p.limit=10/hour"), new StaticListableBeanFactory(), text -> text, limit -> {
                    if (failing.get()) {
                        throw new IllegalStateException("out of order");
                    }
                });
        RateLimitOperations operations =
                new RateLimitOperations(rules, InMemoryStore.builder().build(), Ticker.system());
        Changes changes = changed(1, "p", RateLimitChange.toLimit("5/hour"));

        failing.set(true);
        assertThatThrownBy(() -> operations.adopt(changes)).hasMessage("out of order");
        assertThat(operations.changes()).isEqualTo(Changes.NONE);

        failing.set(false);
        operations.adopt(changes);
        assertThat(operations.policy("p").limits()).containsExactly(limit("5/hour"));
    }

    @Test
    void adopt_ofAnOlderRegister_changesNothing() {
        LiveRules one = instance("p.limit=10/hour");
        one.operations.change("p", RateLimitChange.toLimit("5/hour"));
        Changes older = register.shared;
        one.operations.change("p", RateLimitChange.toLimit("6/hour"));

        one.operations.adopt(older);
        one.operations.adopt(Changes.NONE);

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("6/hour"));
    }

    @Test
    void adopt_ofAnOlderRegister_bringsNothingBackThatWasRestored() {
        LiveRules one = instance("p.limit=10/hour");
        one.operations.change("p", RateLimitChange.toLimit("5/hour"));
        Changes older = register.shared;
        one.operations.restore("p");

        one.operations.adopt(older);

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("10/hour"));
    }

    @Test
    void change_afterTheRegisterLostAll_isAccepted_andBringsAllBack() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        one.operations.change("q", RateLimitChange.toLimit("3/hour"));
        register.shared = Changes.NONE;

        one.operations.change("p", RateLimitChange.toLimit("5/hour"));

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(one.operations.policy("q").limits()).containsExactly(limit("3/hour"));
        assertThat(register.shared).isEqualTo(one.operations.changes());
        assertThat(register.shared.policies()).containsExactly("p", "q");
    }

    @Test
    void changes_thatDidNotSeeEachOther_areBothInForce() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");
        one.operations.change("p", RateLimitChange.toLimit("5/hour"));
        register.shared = Changes.NONE;
        other.operations.change("p", RateLimitChange.toMode(Mode.SHADOW));

        one.operations.adopt(
                register.exchange(one.operations.changes(), Changes.NONE).all());
        other.operations.adopt(
                register.exchange(other.operations.changes(), Changes.NONE).all());

        for (LiveRules live : new LiveRules[] {one, other}) {
            assertThat(live.operations.policy("p").limits()).containsExactly(limit("5/hour"));
            assertThat(live.operations.mode("p")).isEqualTo(Mode.SHADOW);
        }
    }

    @Test
    void changes_thatContradictEachOther_leaveTheLatestInForce() {
        LiveRules one = instance("p.limit=10/hour");
        RateLimitChange two = new RateLimitChange("10/hour; 50/day", null, Mode.SHADOW);

        one.operations.adopt(
                changed(1, "p", new RateLimitChange(null, 20L, null)).and(changed(2, "p", two)));

        assertThat(one.operations.report("p", null, false)).containsEntry("changed", two.toString());

        one.operations.adopt(changed(3, "p", new RateLimitChange(null, 30L, null)));

        assertThat(one.operations.report("p", null, false)).containsEntry("changed", "burst 30, mode shadow");
    }

    @Test
    void adopt_ofWhatThisInstanceCannotApply_appliesTheRest_andKeepsItForOthers() {
        LiveRules other = instance(
                "p.limit=10/hour", "ratelimit.policies.w.limit=10/hour", "ratelimit.policies.w.algorithm=fixed-window");
        Changes changes = changed(1, "gone", RateLimitChange.toLimit("5/hour"))
                .and(changed(2, "w", new RateLimitChange(null, 20L, null)))
                .and(changed(3, "w", RateLimitChange.toMode(Mode.SHADOW)))
                .and(changed(4, "p", RateLimitChange.toLimit("5/hour")));
        register.shared = changes;

        other.operations.adopt(changes);
        assertThat(other.operations.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(other.operations.policy("w").limits().get(0).capacity()).isEqualTo(10);
        assertThat(other.operations.report("w", null, false)).containsEntry("changed", "mode shadow");

        other.operations.change("p", RateLimitChange.toLimit("6/hour"));

        assertThat(register.shared.policies()).containsExactly("gone", "p", "w");
        assertThat(register.shared.of("w")).isEqualTo(new RateLimitChange(null, 20L, Mode.SHADOW));
    }

    @Test
    void propertyOfANewerVersion_isKeptForOthers() {
        LiveRules one = instance("p.limit=10/hour");
        Changes foreign = Changes.parse("weight p 7 5\nburst p 8 much\npenalty p 9 soon\n");

        one.operations.adopt(foreign);
        one.operations.change("p", RateLimitChange.toLimit("6/hour"));

        assertThat(one.operations.policy("p").limits()).containsExactly(limit("6/hour"));
        assertThat(register.shared.values()).containsAllEntriesOf(foreign.values());
    }

    @Test
    void changes_ofTheSameMoment_areJoinedToTheSame_inAnyOrder() {
        Changes one = changed(7, "p", RateLimitChange.toLimit("5/hour"));
        Changes other = changed(7, "p", RateLimitChange.toLimit("6/hour"));

        assertThat(one.and(other)).isEqualTo(other.and(one)).isEqualTo(other);
    }

    @Test
    void changes_asText_areReadBack() {
        Changes changes = changed(1, "a b:%\n", new RateLimitChange(" 5 per\tminute ", 0L, Mode.OFF))
                .and(Changes.of("p", new RateLimitChange(null, null, null), true)
                        .at(1_764_000_000_000_000L));

        assertThat(Changes.parse(changes.toString())).isEqualTo(changes);
        assertThat(changes.of("a b:%\n")).isEqualTo(new RateLimitChange(" 5 per\tminute ", 0L, Mode.OFF));
        assertThatThrownBy(() -> Changes.parse("garbage")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void change_ofAnotherVersion_isRefused() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        String seen = version(one, "p");
        assertThat(version(other, "p")).isEqualTo(seen);
        other.operations.change("q", RateLimitChange.toLimit("1/hour"));

        one.operations.edit("p", RateLimitChange.toLimit("5/hour"), false, seen, false);

        // the other one has not read that yet
        assertThatThrownBy(() -> other.operations.edit("p", RateLimitChange.toMode(Mode.OFF), false, seen, false))
                .isInstanceOf(StaleVersionException.class)
                .hasMessageContaining("is 5/hour (token-bucket), mode enforce now");
        assertThat(other.operations.mode("p")).isEqualTo(Mode.ENFORCE);
        other.operations.edit("p", RateLimitChange.toMode(Mode.OFF), false, version(other, "p"), false);
        assertThat(version(other, "p")).isNotEqualTo(seen).isNotEqualTo(version(one, "p"));
    }

    private static String version(LiveRules live, String policy) {
        return String.valueOf(live.operations.report(policy, null, false).get("version"));
    }

    @Test
    void change_againstOthersWhoAreAlwaysFirst_endsWithAnError() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.operations.share((known, change) -> new SharedChanges.Answer(
                known.and(changed(known.latest() + 1, "p", RateLimitChange.toLimit(known.latest() + 1 + "/hour"))),
                false));

        assertThatThrownBy(() -> one.operations.change("p", RateLimitChange.toLimit("5/minute")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("try again");
    }

    @Test
    void planOfAnotherInstance_isNotAmongTheChangesInForce() {
        PlanResolver plans = caller -> null;
        LiveRules one = new LiveRules(
                Map.of("plans", plans), "p.limit=9/hour", "p.key=user", "p.plans.a+b=5/hour", "p.plans.pro=5/hour");
        LiveRules other = new LiveRules(Map.of("plans", plans), "p.limit=9/hour", "p.key=user", "p.plans.[a+b]=5/hour");
        one.operations.change("p", RateLimitChange.toPlan("pro", "7/hour"));
        other.operations.change("p", RateLimitChange.toPlan("a+b", "7/hour"));

        other.operations.adopt(one.operations.changes());

        assertThat(other.operations.history().inForce().toString())
                .contains("property=plan-limit.a+b,")
                .doesNotContain("plan-limit.pro");
    }
}

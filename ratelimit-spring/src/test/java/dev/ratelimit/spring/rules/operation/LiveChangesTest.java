package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
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
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangeStore.Kind;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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

    private final Register register = new Register();

    private LiveRules instance(String... properties) {
        LiveRules live = new LiveRules(properties);
        register.share(live);
        return live;
    }

    @Test
    void change_isAnEvent_onEachInstance_andWhatChangesNothingIsNone() {
        List<Object> here = new ArrayList<>();
        List<Object> there = new ArrayList<>();
        LiveRules first = instance("p.limit=100/minute");
        LiveRules second = instance("p.limit=100/minute");
        first.identify(() -> "alice");
        first.publishTo(new QueuedEvents(here::add, Runnable::run));
        second.publishTo(new QueuedEvents(there::add, Runnable::run));

        first.policies.change("p", RateLimitChange.toLimit("50/minute"));
        first.policies.change("p", RateLimitChange.toLimit("50/minute"));
        register.read(second);
        register.read(second);

        String before = "100/minute (token-bucket), mode enforce";
        String now = first.rules.inForce().version("p").toString();
        assertThat(now).startsWith("50/minute");
        assertThat(here).containsExactly(new RateLimitChangedEvent("p", Cause.OPERATOR, "alice", before, now));
        assertThat(there).containsExactly(new RateLimitChangedEvent("p", Cause.OTHER_INSTANCE, null, before, now));
    }

    @Test
    void instanceThatStarts_withAnotherConfigurationThanThatOfTheChange_warnsOnce(CapturedOutput output) {
        LiveRules before = instance("p.limit=100/minute");
        before.identify(() -> "alice");
        before.policies.change(
                "p",
                RateLimitChange.toLimit("50/minute")
                        .lasting(Duration.ofHours(1))
                        .because("release"));
        before.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));

        LiveRules deployed = instance("p.limit=200/minute");
        register.read(deployed);
        before.policies.change("p", RateLimitChange.toMode(Mode.OFF));
        register.read(deployed);

        String end = String.valueOf(before.policies.history(3).get(2).until());
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
                Objects.requireNonNull(live.report("p", null, false).get("changes"));
    }

    @Test
    void change_withAnEnd_endsOnAllInstances_alsoIfItIsLearntAfterwards() {
        LiveRules first = instance("p.limit=100/minute");
        LiveRules second = instance("p.limit=100/minute");
        first.policies.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofMinutes(1)));
        register.read(second);
        assertThat(second.liveChanges.isChanged("p")).isTrue();

        first.ticker.advance(Duration.ofMinutes(1));
        second.ticker.advance(Duration.ofMinutes(1));
        LiveRules late = instance("p.limit=100/minute");
        late.ticker.advance(Duration.ofMinutes(1));
        register.read(late);

        assertThat(List.of(first, second, late))
                .allSatisfy(live -> assertThat(live.liveChanges.isChanged("p")).isFalse());
        assertThat(register.calls).isEqualTo(1);
    }

    @Test
    @Timeout(30)
    void change_thatHasWaitedTooLongForAnother_isRefused_withoutAQuestion() throws Exception {
        LiveRules live = instance("p.limit=100/minute");
        AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
        Thread waiting = new Thread(() ->
                refusal.set(catchThrowable(() -> live.policies.change("p", RateLimitChange.toLimit("20/minute")))));
        register.meanwhile = () -> {
            waiting.start();
            while (waiting.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            live.ticker.advance(Duration.ofSeconds(3));
        };

        live.policies.change("p", RateLimitChange.toLimit("50/minute"));
        waiting.join();

        assertThat(refusal.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("took too long");
        assertThat(register.calls).isEqualTo(1);
        assertThat(live.policies.policy("p").limits().get(0)).isEqualTo(TokenBucket.of(Rate.parse("50/minute")));
    }

    @Test
    void change_whoseAttemptsTakeTooLong_isRefused() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        AtomicInteger questions = new AtomicInteger();
        live.changes.share((change, known) -> {
            questions.incrementAndGet();
            live.ticker.advance(Duration.ofSeconds(1));
            return null;
        });

        assertThatThrownBy(() -> live.policies.change("p", RateLimitChange.toLimit("50/minute")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("took too long");

        assertThat(questions).hasValue(2);
    }

    @Test
    void change_endsInTime_whileAnotherWaitsForAnAnswer() {
        LiveRules live = instance("p.limit=100/minute");
        live.policies.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofMinutes(1)));
        List<Boolean> changedMeanwhile = new ArrayList<>();
        register.meanwhile = () -> {
            CompletableFuture.runAsync(() -> live.ticker.advance(Duration.ofMinutes(1)))
                    .orTimeout(5, TimeUnit.SECONDS)
                    .join();
            changedMeanwhile.add(live.liveChanges.isChanged("p"));
        };

        live.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(changedMeanwhile).containsExactly(false);
        assertThat(live.policies.mode("p")).isEqualTo(Mode.SHADOW);
        assertThat(live.policies.policy("p").limits().get(0)).isEqualTo(TokenBucket.of(Rate.parse("100/minute")));
    }

    /** As an audit log whose database does not answer. */
    @Test
    void observerOfAnEnd_thatTakesItsTime_holdsUpNoChange_andNoOtherEnd() {
        LiveRules live =
                instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour", "ratelimit.policies.r.limit=10/hour");
        live.policies.change("p", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(1)));
        live.policies.change("r", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(2)));
        List<TokenBucket> meanwhile = new ArrayList<>();
        live.observers.add((policy, what) -> {
            if (policy.equals("p")) {
                CompletableFuture.runAsync(() -> {
                            live.policies.change("q", RateLimitChange.toLimit("6/hour"));
                            register.read(live);
                            live.ticker.advance(Duration.ofMinutes(2));
                        })
                        .orTimeout(5, TimeUnit.SECONDS)
                        .join();
                live.policies.policy("q").limits().forEach(limit -> meanwhile.add((TokenBucket) limit));
                live.policies.policy("r").limits().forEach(limit -> meanwhile.add((TokenBucket) limit));
            }
        });

        live.ticker.advance(Duration.ofMinutes(1));

        assertThat(meanwhile).containsExactly(limit("6/hour"), limit("10/hour"));
    }

    /** Time whose alarms find no thread before the test runs their tasks. */
    private record Busy(FakeTicker time, Queue<Runnable> tasks) implements Ticker, Scheduler {

        @Override
        public long nanos() {
            return time.nanos();
        }

        @Override
        public long epochNanos() {
            return time.epochNanos();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            return time.schedule(task, delayNanos);
        }

        @Override
        public Executor blockingExecutor() {
            return tasks::add;
        }
    }

    @Test
    void end_thatAnOperatorIsTheFirstToSee_isToldByTheAlarm_andInOrder() {
        RequestRules rules = RequestRules.withoutRequests(
                LiveRules.bind(
                        "p.limit=10/hour", "ratelimit.policies.q.limit=10/hour", "ratelimit.policies.r.limit=10/hour"),
                new StaticListableBeanFactory(),
                text -> text,
                limit -> {});
        Busy busy = new Busy(new FakeTicker(), new ArrayDeque<>());
        Operated live = new Operated(rules, InMemoryStore.builder().build(), busy, false);
        AtomicReference<@Nullable String> operator = new AtomicReference<>();
        List<String> told = new ArrayList<>();
        live.identify(operator::get);
        live.observers.add((policy, what) -> told.add(policy + " by " + operator.get()));
        live.policies.change("p", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(2)));
        live.policies.change("q", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(1)));
        told.clear();

        operator.set("alice");
        busy.time().advance(Duration.ofMinutes(1));
        live.policies.change("r", RateLimitChange.toLimit("6/hour"));
        busy.time().advance(Duration.ofMinutes(1));
        live.policies.change("r", RateLimitChange.toLimit("7/hour"));

        assertThat(live.rules.changes()).containsOnlyKeys("r");
        assertThat(told).containsExactly("r by alice", "r by alice");
        operator.set(null);
        busy.tasks().remove().run();
        assertThat(told).endsWith("r by alice", "q by null", "p by null");
    }

    /** Changes of one property each, such as {@code p limit 5/hour}, one after the other. */
    private static ChangeStore.Contents changes(String... all) {
        Map<String, Map<String, Map<String, Object>>> byPolicy = new HashMap<>();
        for (int i = 0; i < all.length; i++) {
            String[] words = all[i].split(" ", 3);
            byPolicy.computeIfAbsent(words[0], policy -> new HashMap<>())
                    .put(words[1], new ChangedValue(words[2], i + 1, ChangedValue.NEVER, "alice", null, "").json());
        }
        Map<String, String> texts = new HashMap<>();
        byPolicy.forEach((policy, values) -> texts.put(policy, ChangedValue.text(values)));
        return new ChangeStore.Contents(Map.of(Kind.POLICY, texts, Kind.OVERRIDE, Map.of()), List.of());
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

        live.policies.change("p", RateLimitChange.toLimit("10/second"));

        // the bucket was empty before, so it is now
        assertThat(load(live, Duration.ofMillis(90))).isLessThanOrEqualTo(1);
        assertThat(load(live, Duration.ofSeconds(3))).isBetween(29, 31);

        live.policies.restore("p");

        // ten in this time, and for what was left of one permit in ten as much of ten in a hundred
        assertThat(load(live, Duration.ofMillis(100))).isBetween(10, 20);
        assertThat(load(live, Duration.ofSeconds(2))).isBetween(199, 201);
    }

    @Test
    void limit_changedAndBack_overAndOver_givesNobodyMore() {
        LiveRules live = new LiveRules("p.limit=100/second");
        int admitted = load(live, Duration.ofSeconds(1));

        for (int i = 0; i < 100; i++) {
            live.policies.change("p", RateLimitChange.toLimit("10/second"));
            admitted += load(live, STEP);
            live.policies.restore("p");
            admitted += load(live, STEP);
        }

        // 1.4 s of at most 100 a second, and the burst at the start
        assertThat(admitted).isLessThanOrEqualTo(100 + 140);
    }

    @Test
    void change_isSharedOnce_andAdoptedByOthers() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");

        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        register.read(other);

        assertThat(register.calls).isEqualTo(1);
        assertThat(other.policies.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(other.report("p", null, false)).containsEntry("changed", "limit 5/hour");
        one.policies.restore("p");
        register.read(other);
        assertThat(other.policies.policy("p").limits()).containsExactly(limit("10/hour"));
    }

    @Test
    void change_thatIsWrong_isNotShared() {
        LiveRules one = instance("p.limit=10/hour");

        assertThatThrownBy(() -> one.policies.change("p", RateLimitChange.toLimit("never")))
                .isInstanceOf(RateLimitConfigurationException.class);
        assertThatThrownBy(() -> one.policies.change("q", RateLimitChange.toLimit("5/hour")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(register.calls).isZero();
    }

    @Test
    void changes_atTheSameTime_areBothInForce() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        one.policies.change("q", RateLimitChange.toMode(Mode.SHADOW));

        // the other one knows none of these yet
        other.policies.change("p", RateLimitChange.toMode(Mode.OFF));
        register.read(one);

        for (LiveRules live : new LiveRules[] {one, other}) {
            assertThat(live.policies.policy("p").limits()).containsExactly(limit("5/hour"));
            assertThat(live.policies.mode("p")).isEqualTo(Mode.OFF);
            assertThat(live.policies.mode("q")).isEqualTo(Mode.SHADOW);
        }
    }

    @Test
    void change_thatOnlyTogetherWithAnothersIsWrong_isRefused_andTheOthersIsInForce() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");
        one.policies.change("p", new RateLimitChange(null, 20L, null));

        assertThatThrownBy(() -> other.policies.change("p", RateLimitChange.toLimit("10/hour; 50/day")))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining("burst needs a policy with a single limit");

        assertThat(other.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("10/hour"), 20));
    }

    @Test
    void change_thatCannotBeShared_isRefused() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.policies.change("p", RateLimitChange.toLimit("9/hour"));
        one.changes.share((change, known) -> {
            throw new IllegalStateException("no answer");
        });

        assertThatThrownBy(() -> one.policies.change("p", RateLimitChange.toLimit("5/hour")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.policies.restore("p")).isInstanceOf(IllegalStateException.class);

        assertThat(one.policies.policy("p").limits()).containsExactly(limit("9/hour"));
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
        Operated live = new Operated(rules, InMemoryStore.builder().build(), Ticker.system(), false);
        ChangeStore.Contents changes = changes("p limit 5/hour");

        failing.set(true);
        assertThatThrownBy(() -> live.changes.adopt(changes, 0)).hasMessage("out of order");
        assertThat(live.changes.text(ChangeStore.Name.ofPolicy("p"))).isEmpty();

        failing.set(false);
        live.changes.adopt(changes, 0);
        assertThat(live.policies.policy("p").limits()).containsExactly(limit("5/hour"));
    }

    @Test
    void adopt_ofAnOlderRegister_changesNothing() {
        LiveRules one = instance("p.limit=10/hour");
        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        ChangeStore.Contents older = register.contents;
        one.policies.change("p", RateLimitChange.toLimit("6/hour"));
        ChangeStore.Contents now = register.contents;

        assertThat(one.changes.adopt(older, 0)).isEqualTo(now);
        assertThat(one.changes.adopt(Register.NOTHING, 0)).isEqualTo(now);

        assertThat(one.policies.policy("p").limits()).containsExactly(limit("6/hour"));
    }

    @Test
    void adopt_ofAnOlderRegister_bringsNothingBackThatWasRestored() {
        LiveRules one = instance("p.limit=10/hour");
        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        ChangeStore.Contents older = register.contents;
        one.policies.restore("p");

        assertThat(one.changes.adopt(older, 0)).isEqualTo(register.contents);

        assertThat(one.policies.policy("p").limits()).containsExactly(limit("10/hour"));
    }

    @Test
    void change_afterTheRegisterLostAll_isAccepted_andBringsAllBack() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        one.policies.change("q", RateLimitChange.toLimit("3/hour"));
        register.contents = Register.NOTHING;

        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        register.read(one);

        assertThat(one.policies.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(one.policies.policy("q").limits()).containsExactly(limit("3/hour"));
        assertThat(register.contents.of(Kind.POLICY)).containsOnlyKeys("p", "q");
        assertThat(register.contents.history()).hasSize(2);
    }

    @Test
    void changes_thatDidNotSeeEachOther_areBothInForce() {
        LiveRules one = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");
        one.policies.change("p", RateLimitChange.toLimit("5/hour"));
        register.contents = Register.NOTHING;
        other.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));

        register.read(one);
        register.read(other);

        for (LiveRules live : new LiveRules[] {one, other}) {
            assertThat(live.policies.policy("p").limits()).containsExactly(limit("5/hour"));
            assertThat(live.policies.mode("p")).isEqualTo(Mode.SHADOW);
        }
    }

    @Test
    void changes_thatContradictEachOther_leaveTheLatestInForce() {
        LiveRules one = instance("p.limit=10/hour");

        one.changes.adopt(changes("p burst 20", "p limit 10/hour; 50/day", "p mode shadow"), 0);

        assertThat(one.report("p", null, false)).containsEntry("changed", "limit 10/hour; 50/day, mode shadow");

        one.changes.adopt(changes("p limit 10/hour; 50/day", "p mode shadow", "p mode shadow", "p burst 30"), 0);

        assertThat(one.report("p", null, false)).containsEntry("changed", "burst 30, mode shadow");
    }

    @Test
    void adopt_ofWhatThisInstanceCannotApply_appliesTheRest_andKeepsItForOthers() {
        LiveRules other = instance(
                "p.limit=10/hour", "ratelimit.policies.w.limit=10/hour", "ratelimit.policies.w.algorithm=fixed-window");
        register.contents = changes("gone limit 5/hour", "w burst 20", "w mode shadow", "p limit 5/hour");

        register.read(other);
        assertThat(other.policies.policy("p").limits()).containsExactly(limit("5/hour"));
        assertThat(other.policies.policy("w").limits().get(0).capacity()).isEqualTo(10);
        assertThat(other.report("w", null, false)).containsEntry("changed", "mode shadow");

        other.policies.change("p", RateLimitChange.toLimit("6/hour"));

        assertThat(register.contents.of(Kind.POLICY)).containsOnlyKeys("gone", "p", "w");
        assertThat(register.contents.of(Kind.POLICY).get("w")).contains("burst", "shadow");
    }

    @Test
    void propertyOfANewerVersion_isKeptForOthers() {
        LiveRules one = instance("p.limit=10/hour");
        register.contents = changes("p weight 5", "p burst much", "p penalty soon");

        register.read(one);
        one.policies.change("p", RateLimitChange.toLimit("6/hour"));

        assertThat(one.policies.policy("p").limits()).containsExactly(limit("6/hour"));
        assertThat(register.contents.of(Kind.POLICY).get("p")).contains("weight", "much", "soon", "6");
    }

    @Test
    void change_ofAnotherVersion_isRefused() {
        LiveRules one = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        String seen = version(one, "p");
        assertThat(version(other, "p")).isEqualTo(seen);
        other.policies.change("q", RateLimitChange.toLimit("1/hour"));

        one.edit("p", RateLimitChange.toLimit("5/hour"), false, seen, false);

        // the other one has not read that yet
        assertThatThrownBy(() -> other.edit("p", RateLimitChange.toMode(Mode.OFF), false, seen, false))
                .isInstanceOf(StaleVersionException.class)
                .hasMessageContaining("is 5/hour (token-bucket), mode enforce now");
        assertThat(other.policies.mode("p")).isEqualTo(Mode.ENFORCE);
        other.edit("p", RateLimitChange.toMode(Mode.OFF), false, version(other, "p"), false);
        assertThat(version(other, "p")).isNotEqualTo(seen).isNotEqualTo(version(one, "p"));
    }

    private static String version(LiveRules live, String policy) {
        return String.valueOf(live.report(policy, null, false).get("version"));
    }

    @Test
    void change_againstOthersWhoAreAlwaysFirst_endsWithAnError() {
        LiveRules one = new LiveRules("p.limit=10/hour");
        one.changes.share((change, known) -> null);

        assertThatThrownBy(() -> one.policies.change("p", RateLimitChange.toLimit("5/minute")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("try again");
    }

    @Test
    void planOfAnotherInstance_isNotAmongTheChangesInForce() {
        PlanResolver plans = caller -> null;
        LiveRules one = new LiveRules(
                Map.of("plans", plans), "p.limit=9/hour", "p.key=user", "p.plans.a+b=5/hour", "p.plans.pro=5/hour");
        LiveRules other = new LiveRules(Map.of("plans", plans), "p.limit=9/hour", "p.key=user", "p.plans.[a+b]=5/hour");
        register.share(one);
        register.share(other);
        one.policies.change("p", RateLimitChange.toPlan("pro", "7/hour"));
        other.policies.change("p", RateLimitChange.toPlan("a+b", "7/hour"));

        register.read(other);

        assertThat(other.liveChanges.report().toString())
                .contains("property=plan-limit.a+b,")
                .doesNotContain("plan-limit.pro");
    }

    @Test
    void version_coversTheEndAndTheReason() {
        LiveRules live = new LiveRules("p.limit=10/hour");
        live.policies.change("p", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(10)));
        String seen = version(live, "p");
        live.policies.change(
                "p",
                RateLimitChange.toLimit("5/hour").lasting(Duration.ofHours(8)).because("attack, keep till morning"));

        assertThatThrownBy(() -> live.edit("p", new RateLimitChange(null, null, null), true, seen, false))
                .isInstanceOf(StaleVersionException.class);

        assertThat(live.policies.policy("p").limits()).containsExactly(limit("5/hour"));
    }

    @Test
    void change_thatHasEnded_doesNotComeBack_whateverBecomesOfTheClock() {
        LiveRules live = new LiveRules("p.limit=10/hour", "ratelimit.policies.q.limit=10/hour");
        live.policies.change("p", RateLimitChange.toLimit("3/hour").lasting(Duration.ofHours(2)));
        live.ticker.setWallClock(Duration.ofHours(3));
        live.ticker.advance(Duration.ofMinutes(1));
        assertThat(live.liveChanges.isChanged("p")).isFalse();

        live.ticker.setWallClock(Duration.ofHours(-3));
        live.policies.change("q", RateLimitChange.toLimit("1/hour"));

        assertThat(live.liveChanges.isChanged("p")).isFalse();
    }

    @Test
    void end_isThatOfTheRegister_whateverTheClocksOfInstancesSay() {
        LiveRules behind = instance("p.limit=10/hour");
        LiveRules other = instance("p.limit=10/hour");
        behind.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));
        behind.ticker.setWallClock(Duration.ofMinutes(-10));

        behind.policies.change("p", RateLimitChange.toLimit("5/hour").lasting(Duration.ofMinutes(5)));
        register.read(other);

        assertThat(other.policies.policy("p").limits()).containsExactly(limit("5/hour"));
    }

    @Test
    void answer_tellsWhatTheChangeHasReplaced() {
        LiveRules live = new LiveRules("p.limit=10/hour");
        live.identify(() -> "alice");
        live.policies.change("p", RateLimitChange.toLimit("5/hour").because("night"));

        Map<String, Object> answer = live.edit("p", RateLimitChange.toLimit("6/hour"), false, null, false);

        assertThat(answer.get("replaced")).asString().contains("property=limit, to=5/hour, by=alice", "reason=night");
    }

    @Test
    void policyThatIsNotInForce_andChanges_areReportedWithoutReadingTheConfigurationAnew() {
        AtomicInteger limits = new AtomicInteger();
        RequestRules rules = RequestRules.withoutRequests(
                LiveRules.bind("p.limit=10/hour"),
                new StaticListableBeanFactory(),
                text -> text,
                limit -> limits.incrementAndGet());
        Operated live = new Operated(rules, InMemoryStore.builder().build(), Ticker.system(), false);
        live.policies.change("p", RateLimitChange.toLimit("5/hour"));
        live.report("extra-by-address", null, false);
        live.report().all(false);
        int before = limits.get();

        live.report("extra-by-address", null, false);
        live.report().all(false);

        assertThat(limits).hasValue(before);
    }
}

package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Permits that are held come back, whatever happens to commands and replies; {@code max-hold} is ten minutes. */
class HeldPermitsTest {

    private static final Policy EXPORTS = Policy.of("exports", Concurrency.of(10));
    private static final Policy EXPORTS_PER_DAY = Policy.of("exports", TokenBucket.of(Rate.parse("10/day")));
    private static final Policy WINDOW = Policy.of("window", FixedWindow.of(Rate.parse("10/hour")));

    private final FakeTicker time = new FakeTicker();
    private final FakeRedis redis = new FakeRedis(time);
    private final Events events = new Events();
    private final RedisStore store = redis.store()
            .onStoreFailure(OnStoreFailure.ALLOW)
            .denyCache(Duration.ZERO)
            .listener(events)
            .build();

    @BeforeEach
    void learnTheClock() {
        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @AfterEach
    void close() {
        store.close();
        events.close();
    }

    private Decision charge(Policy policy) {
        return store.decide(List.of(policy.charge("k")));
    }

    private long remaining(Policy policy) {
        Decision decision = store.peek(List.of(policy.charge("k")));
        assertThat(RedisStore.decidedByRedis(decision)).isTrue();
        return decision.limits().get(0).remaining();
    }

    private void seconds(int seconds) {
        for (int i = 0; i < 10 * seconds; i++) {
            time.advance(Duration.ofMillis(100));
        }
    }

    @Test
    void decide_replyComesTooLate_isGivenBackThen() {
        redis.delayReplies();
        assertThat(RedisStore.decidedByRedis(charge(EXPORTS))).isFalse();
        assertThat(RedisStore.decidedByRedis(charge(WINDOW))).isFalse();

        redis.deliver();

        assertThat(remaining(EXPORTS)).isEqualTo(10);
        assertThat(remaining(WINDOW)).isEqualTo(10);
    }

    @Test
    @DisplayName("what a server gets to long after the deadline charges nothing, although nobody is told")
    void decide_executedLongAfterTheDeadline_isVoid() {
        redis.hang();
        charge(WINDOW);
        charge(EXPORTS);
        time.advance(Duration.ofSeconds(5));
        redis.cut();

        redis.goOn();

        assertThat(remaining(WINDOW)).isEqualTo(10);
        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    @DisplayName("a charge whose reply is lost with the connection is given back a moment later")
    void decide_replyIsLost_isCancelled() {
        redis.loseReplies();
        for (int i = 0; i < 3; i++) {
            assertThat(RedisStore.decidedByRedis(charge(EXPORTS))).isFalse();
        }
        redis.cut();
        assertThat(remaining(EXPORTS)).isEqualTo(7);

        seconds(2);

        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    @DisplayName("a charge that is under way for long is given back when no server executes it any more, not before")
    void decide_executedAfterTheNextConnection_isCancelledAfterwards() {
        try (RedisStore patient = redis.store()
                .deadline(Duration.ofSeconds(5))
                .onStoreFailure(OnStoreFailure.ALLOW)
                .build()) {
            // it learns the time
            patient.peek(List.of(WINDOW.charge("k")));
            List<Runnable> late = new ArrayList<>();
            redis.hang();
            redis.meanwhile(() -> {
                late.add(redis.holdUp());
                redis.cut();
            });
            assertThat(RedisStore.decidedByRedis(patient.decide(List.of(EXPORTS.charge("k")))))
                    .isFalse();

            seconds(3);
            late.forEach(Runnable::run);
            assertThat(remaining(EXPORTS)).isEqualTo(9);

            seconds(15);
            assertThat(remaining(EXPORTS)).isEqualTo(10);
        }
    }

    @Test
    @DisplayName("of a rate beside it, nobody knows whether it was charged: it stays charged")
    void decide_replyOfBothIsLost_cancelsWhatIsHeldOnly() {
        redis.loseReplies();
        store.decide(List.of(WINDOW.charge("k"), EXPORTS.charge("k")));
        redis.cut();

        seconds(2);

        assertThat(remaining(WINDOW)).isEqualTo(9);
        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    void refund_serverIsDown_isSentWhenItIsBack() {
        List<Decision> held = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            held.add(charge(EXPORTS));
        }
        Decision rate = charge(WINDOW);
        leaveServerAlone();
        held.forEach(store::refund);
        store.refund(rate);
        seconds(30);

        redis.comeBack();
        seconds(3);

        assertThat(store.available()).isTrue();
        assertThat(remaining(EXPORTS)).isEqualTo(10);
        assertThat(remaining(WINDOW)).isEqualTo(10);
    }

    @Test
    void refund_serverIsDownForLongerThanOneOfTheLimitsTakes_isSentForTheOther() {
        Policy both = Policy.of("both", FixedWindow.of(Rate.parse("10/hour")), FixedWindow.of(Rate.parse("10/second")));
        Decision charged = charge(both);
        leaveServerAlone();
        store.refund(charged);
        seconds(30);

        redis.comeBack();
        seconds(3);

        assertThat(remaining(both)).isEqualTo(10);
    }

    @Test
    @DisplayName("a refund whose reply is lost is sent again, and takes nobody else's permit")
    void refund_replyIsLost_returnsItsPermitOnce() {
        Decision mine = charge(EXPORTS);
        charge(EXPORTS);
        redis.loseReplies();
        store.refund(mine);
        redis.cut();
        charge(EXPORTS);

        seconds(3);

        assertThat(remaining(EXPORTS)).isEqualTo(8);
    }

    @Test
    void refund_isLostOnItsWay_isSentAgain() {
        Decision mine = charge(EXPORTS);
        redis.hang();
        store.refund(mine);
        redis.cutAndForget();
        redis.goOn();
        assertThat(remaining(EXPORTS)).isEqualTo(9);

        seconds(3);

        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    @DisplayName("a part is not sent again: nobody could tell whether that is the same part or another one")
    void refund_ofAPartIsLostOnItsWay_isNotSentAgain() {
        Decision mine = store.decide(List.of(EXPORTS.charge("k", 5)));
        redis.hang();
        store.refund(mine, List.of(EXPORTS.charge("k", 2)));
        redis.cutAndForget();
        redis.goOn();

        seconds(3);

        assertThat(remaining(EXPORTS)).isEqualTo(5);
    }

    @Test
    @DisplayName("a refund of a rate whose reply is lost is not repeated: it might return what others have charged")
    void refund_replyOfARateIsLost_isNotRepeated() {
        Decision mine = charge(WINDOW);
        charge(WINDOW);
        redis.loseReplies();
        store.refund(mine);
        redis.cut();

        seconds(3);

        assertThat(remaining(WINDOW)).isEqualTo(9);
    }

    @Test
    void refund_twice_returnsPermitsOnce() {
        Decision mine = charge(EXPORTS);
        charge(EXPORTS);

        store.refund(mine);
        store.refund(mine);

        assertThat(remaining(EXPORTS)).isEqualTo(9);
    }

    @Test
    void refund_ofAPart_returnsThatPart() {
        Decision mine = store.decide(List.of(EXPORTS.charge("k", 5)));

        store.refund(mine, List.of(EXPORTS.charge("k", 0)));
        assertThat(remaining(EXPORTS)).isEqualTo(5);
        store.refund(mine, List.of(EXPORTS.charge("k", 2)));
        assertThat(remaining(EXPORTS)).isEqualTo(7);
        store.refund(mine, List.of(EXPORTS.charge("k", 3)));
        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    void refund_ofAnotherStore_isRejected() {
        Decision decision = InMemoryStore.create().decide(List.of(EXPORTS.charge("k")));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.refund(decision))
                .withMessage("a decision must be refunded to the store that made it but was of another store");
    }

    /** No request reaches the server any more. */
    private void leaveServerAlone() {
        redis.goDown();
        while (store.available()) {
            charge(WINDOW);
        }
    }

    private void useServerAgain() {
        redis.comeBack();
        while (!store.available()) {
            time.advance(Duration.ofMillis(10));
        }
    }

    @Test
    @DisplayName("of a part that was kept, nobody knows whether it was executed: it is not repeated")
    void refund_ofAPartWasKeptAndItsReplyIsLost_isNotRepeated() {
        Decision mine = store.decide(List.of(EXPORTS.charge("k", 5)));
        leaveServerAlone();
        store.refund(mine, List.of(EXPORTS.charge("k", 2)));
        useServerAgain();
        redis.loseReplies();
        seconds(1);
        redis.cut();

        seconds(3);

        assertThat(remaining(EXPORTS)).isEqualTo(7);
    }

    @Test
    @DisplayName("permits that a limit of another kind charged are nobody's to refund")
    void refund_limitWasOneOfARate_returnsItsPermitsOnly() {
        Policy before = Policy.of("changed", FixedWindow.of(Rate.parse("10/hour")));
        Policy after = Policy.of("changed", Concurrency.of(10));
        for (int i = 0; i < 4; i++) {
            charge(before);
        }
        Decision mine = charge(after);

        store.refund(mine);
        store.refund(mine);

        assertThat(remaining(after)).isEqualTo(6);
    }

    @Test
    void refund_alarmCannotBeSetOnce_isSentAfterTheNextRefund() {
        Decision mine = charge(EXPORTS);
        leaveServerAlone();
        store.refund(mine);
        redis.refuseAlarms(true);
        seconds(2);
        redis.refuseAlarms(false);
        charge(WINDOW);
        useServerAgain();

        store.refund(charge(WINDOW));
        seconds(2);

        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    @DisplayName("what was kept during an outage does not occupy the server that is back")
    void refund_manyAreKept_areSentAFewAtATime() {
        Policy many = Policy.of("many", Concurrency.of(500));
        List<Decision> held = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            held.add(charge(many));
        }
        leaveServerAlone();
        held.forEach(store::refund);
        useServerAgain();

        int most = 0;
        for (int i = 0; i < 2_000; i++) {
            int before = redis.executed();
            time.advance(Duration.ofMillis(1));
            most = Math.max(most, redis.executed() - before);
        }

        assertThat(most).isBetween(1, 20);
        assertThat(remaining(many)).isEqualTo(500);
    }

    @Test
    @DisplayName("an error of this instance does not tell that the server executed nothing")
    void decide_replyCannotBeRead_isCancelled() {
        redis.makeRepliesUnreadable(true);
        charge(EXPORTS);
        redis.makeRepliesUnreadable(false);
        assertThat(remaining(EXPORTS)).isEqualTo(9);

        seconds(2);

        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    void refund_replyOfARateCannotBeRead_isNotRepeated() {
        Decision mine = charge(WINDOW);
        charge(WINDOW);
        redis.makeRepliesUnreadable(true);
        store.refund(mine);
        redis.makeRepliesUnreadable(false);

        seconds(2);

        assertThat(remaining(WINDOW)).isEqualTo(9);
    }

    @Test
    @DisplayName("a step of the server's clock keeps no permit from coming back")
    void refund_serversClockIsSetBack_returnsItsPermit() {
        List<Decision> held = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            held.add(charge(EXPORTS));
            time.advance(Duration.ofMillis(10));
        }
        redis.setClock(-2);
        assertThat(remaining(EXPORTS)).isEqualTo(2);

        held.forEach(store::refund);

        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    @DisplayName("after the server's clock was set forward, a charge is asked once more, and then decided")
    void decide_serversClockIsSetForward_isDecided() {
        redis.setClock(3600);
        int before = redis.executed();

        Decision decision = charge(EXPORTS);

        assertThat(RedisStore.decidedByRedis(decision)).isTrue();
        assertThat(redis.executed() - before).isEqualTo(2);
        assertThat(RedisStore.decidedByRedis(charge(EXPORTS))).isTrue();
        assertThat(redis.executed() - before).isEqualTo(3);
        assertThat(events.failures()).isZero();
    }

    @Test
    void refund_untilThePermitsHaveComeBackByThemselves_isForgotten() {
        Decision held = charge(EXPORTS);
        leaveServerAlone();
        store.refund(held);
        time.advance(Duration.ofMinutes(11));
        int before = redis.executed();

        redis.comeBack();
        seconds(5);

        // a probe, which charges and resets
        assertThat(redis.executed() - before).isEqualTo(2);
        assertThat(remaining(EXPORTS)).isEqualTo(10);
    }

    @Test
    void refund_moreThanMayBeOwed_keepsAsManyAsThat() {
        Decision held = charge(EXPORTS);
        leaveServerAlone();
        for (int i = 0; i < Inside.MAX_OWED + 100; i++) {
            store.refund(held);
        }
        int before = redis.executed();

        redis.comeBack();
        seconds(10);

        assertThat(redis.executed() - before).isEqualTo(Inside.MAX_OWED + 2);
    }

    @Test
    @DisplayName("a caller that slept much longer than it waited says nothing about the server")
    void decide_instanceStandsStill_serverIsNotLeftAlone() {
        redis.hang();
        redis.stall();
        for (int i = 0; i < 3 * Inside.WINDOW; i++) {
            charge(EXPORTS);
        }

        assertThat(store.available()).isTrue();
        assertThat(events.failures(RemoteStoreFailure.STALLED)).isEqualTo(3 * Inside.WINDOW);
    }

    @Test
    @DisplayName("a reply to another question closes the connection, and the next one is used")
    void decide_replyIsAnothers_connectionIsReplaced() {
        redis.replyNext(1_800_000_000_000_000L, 7, 1, 0, 0, 0, 0);

        assertThat(RedisStore.decidedByRedis(charge(EXPORTS))).isFalse();

        assertThat(events.failures(RedisStoreFailure.UNEXPECTED)).isEqualTo(1);
        assertThat(RedisStore.decidedByRedis(charge(EXPORTS))).isTrue();
        assertThat(redis.connected()).isEqualTo(2);
        assertThat(redis.connections()).isEqualTo(1);
        seconds(2);
        // the charge that was answered so is cancelled
        assertThat(remaining(EXPORTS)).isEqualTo(9);
    }

    @Test
    @DisplayName("a charge of unknown outcome returns nothing to a rate that has taken the limit's place")
    void decide_replyIsLostAndTheLimitIsARateSince_cancelsNothing() {
        redis.loseReplies();
        charge(EXPORTS);
        redis.cut();
        assertThat(store.tryCharge(EXPORTS_PER_DAY.charge("k", 5))).isTrue();

        seconds(3);

        assertThat(remaining(EXPORTS_PER_DAY)).isEqualTo(4);
    }

    @Test
    void refund_replyIsLostAndTheLimitIsARateSince_isNotRepeatedThere() {
        Decision mine = charge(EXPORTS);
        charge(EXPORTS);
        redis.loseReplies();
        store.refund(mine);
        redis.cut();
        assertThat(store.tryCharge(EXPORTS_PER_DAY.charge("k", 5))).isTrue();

        seconds(3);

        assertThat(remaining(EXPORTS_PER_DAY)).isEqualTo(4);
    }

    @Test
    @DisplayName("without any request, a server that is back is used again")
    void available_serverIsBack_withoutTraffic() {
        leaveServerAlone();
        seconds(60);
        assertThat(store.available()).isFalse();

        redis.comeBack();
        time.advance(Duration.ofMillis(1_100));

        assertThat(store.available()).isTrue();
        assertThat(events.warnings()).hasSize(2);
    }

    @Test
    void available_faultsFollowEachOther_isBackWithinThreeSecondsOfTheEndOfEach() {
        for (int fault = 0; fault < 7; fault++) {
            leaveServerAlone();
            seconds(2);
            redis.comeBack();
            seconds(3);
            assertThat(store.available()).as("after fault %s", fault).isTrue();
        }
    }

    @Test
    void decide_closedWhilePermitsAreHeld_refundsBeforehandOnly() {
        Charge charge = EXPORTS.charge("k");
        Decision held = store.decide(List.of(charge));
        store.refund(held);
        store.close();

        store.refund(held);

        assertThat(time.alarms()).isZero();
    }
}

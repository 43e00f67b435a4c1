package dev.ratelimit.queue;

import static dev.ratelimit.queue.QueueScene.admitted;
import static dev.ratelimit.queue.QueueScene.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Callers who wait for one policy, and then have to wait for another one. */
@SuppressWarnings("FutureReturnValueIgnored") // those whose answers do not matter
class RateLimitQueueMovingTest {

    private static final Policy USER = Policy.of("user", FixedWindow.of(Rate.parse("1/8s")));
    private static final Policy TENANT = Policy.of("tenant", FixedWindow.of(Rate.parse("3/24s")));
    private static final Policy SLOTS = Policy.of("tenant", Concurrency.of(1));
    private static final Waiting LONG = Waiting.of(Duration.ofSeconds(60), 100);

    private static QueueScene scene(Waiting tenant) {
        return new QueueScene(Map.of("user", LONG, "tenant", tenant));
    }

    private static List<CompletableFuture<Decision>> users(QueueScene scene, int users, Policy tenant) {
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int user = 0; user < users; user++) {
            answers.add(scene.ask(USER.charge("u" + user), tenant.charge("acme")));
        }
        return answers;
    }

    private static long open(List<CompletableFuture<Decision>> answers) {
        return answers.stream().filter(answer -> !answer.isDone()).count();
    }

    /** Nine users have used up their own permits, and wait for them. */
    private static List<CompletableFuture<Decision>> nineWaitingUsers(QueueScene scene, Policy tenant) {
        for (int user = 0; user < 9; user++) {
            assertThat(scene.ask(USER.charge("u" + user))).isCompleted();
        }
        return users(scene, 9, tenant);
    }

    @Test
    void roomOfTheOtherPolicy_isNotExceeded_andWhoeverFindsNoneIsRefused() {
        try (QueueScene scene = scene(Waiting.of(Duration.ofSeconds(60), 4))) {
            List<CompletableFuture<Decision>> answers = nineWaitingUsers(scene, TENANT);

            scene.advance(Duration.ofSeconds(8));

            assertThat(scene.queue.waiting("tenant")).isEqualTo(4);
            assertThat(answers).filteredOn(QueueScene::admitted).hasSize(3);
            assertThat(answers).filteredOn(QueueScene::refused).hasSize(2).allSatisfy(answer -> {
                assertThat(answer.join().charges()).hasSize(2);
                assertThat(answer.join().violated())
                        .extracting(LimitStatus::policy)
                        .contains(TENANT);
            });
        }
    }

    /** Whether they came by themselves or moved there. */
    @Test
    void newcomersOfAnotherTenant_takePlacesInTheFullRoom_fromThoseWhoAreAnswered() {
        try (QueueScene scene = scene(Waiting.of(Duration.ofSeconds(60), 4))) {
            List<CompletableFuture<Decision>> moved = nineWaitingUsers(scene, TENANT);
            scene.advance(Duration.ofSeconds(8));
            assertThat(scene.ask(3, TENANT.charge("globex"))).allMatch(QueueScene::admitted);

            List<CompletableFuture<Decision>> newcomers = scene.ask(4, TENANT.charge("globex"));

            assertThat(open(newcomers)).isEqualTo(2);
            assertThat(open(moved)).isEqualTo(2);
            assertThat(scene.queue.waiting("tenant")).isEqualTo(4);
            scene.queue.close();
            assertThat(open(newcomers) + open(moved)).isZero();
        }
    }

    @Test
    void maxWaitOfTheOtherPolicy_beginsWithTheMove() {
        try (QueueScene scene = scene(Waiting.of(Duration.ofSeconds(3), 100))) {
            assertThat(scene.ask(SLOTS.charge("acme"))).isCompleted();
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            scene.advance(Duration.ofSeconds(8));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(1);

            scene.advance(Duration.ofMillis(2_999));
            assertThat(moving).isNotDone();
            scene.advance(Duration.ofMillis(1));

            assertThat(refused(moving)).isTrue();
        }
    }

    /** Nobody asks for it when its time is over, as one who came before it, but moved after it, is the head by then. */
    @Test
    void maxWaitOfTheOtherPolicy_endsTheWaitOfThoseBehindItsHead() {
        try (QueueScene scene = scene(Waiting.of(Duration.ofSeconds(9), 100))) {
            assertThat(scene.ask(SLOTS.charge("acme"))).isCompleted();
            for (String user : List.of("u0", "u1")) {
                assertThat(scene.ask(USER.charge(user))).isCompleted();
            }
            CompletableFuture<Decision> first = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            CompletableFuture<Decision> second = scene.ask(USER.charge("u1"), SLOTS.charge("acme"));
            scene.advance(Duration.ofMillis(7_999));
            scene.store.reset(USER, "u0");
            scene.store.decide(List.of(USER.charge("u0")));
            scene.advance(Duration.ofMillis(1));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(1);
            scene.advance(Duration.ofSeconds(8));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(2);

            scene.advance(Duration.ofMillis(1_010));

            assertThat(refused(second)).isTrue();
            assertThat(first).isNotDone();
            scene.advance(Duration.ofSeconds(8));
            assertThat(refused(first)).isTrue();
            assertThat(scene.ticker.alarms()).as("but for that of the store").isEqualTo(1);
        }
    }

    @Test
    void move_toPermitsThatComeTooLate_isARefusal() {
        try (QueueScene scene =
                new QueueScene(Map.of("user", Waiting.of(Duration.ofSeconds(9), 100), "tenant", LONG))) {
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), TENANT.charge("acme"));
            scene.ask(4, TENANT.charge("acme"));

            scene.advance(Duration.ofSeconds(8));

            assertThat(refused(moving)).isTrue();
            assertThat(moving.join().retryAfter()).isEqualTo(Duration.ofSeconds(16));
        }
    }

    /** Before its time is over, and although somebody is ahead of it there who can wait longer. */
    @Test
    void move_behindOthers_toPermitsThatComeTooLate_isARefusalAtOnce() {
        Policy group = Policy.of("group", FixedWindow.of(Rate.parse("1/7s")));
        try (QueueScene scene =
                new QueueScene(Map.of("user", Waiting.of(Duration.ofSeconds(9), 100), "tenant", LONG, "group", LONG))) {
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            assertThat(scene.ask(group.charge("g"))).isCompleted();
            CompletableFuture<Decision> first = scene.ask(group.charge("g"), TENANT.charge("acme"));
            CompletableFuture<Decision> second = scene.ask(USER.charge("u0"), TENANT.charge("acme"));
            scene.store.decide(List.of(TENANT.charge("acme", 3)));
            scene.advance(Duration.ofSeconds(7));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(1);

            scene.advance(Duration.ofSeconds(1));

            assertThat(refused(second)).isTrue();
            assertThat(first).isNotDone();
        }
    }

    /** They come back while the store refuses somebody who is not in that line yet. */
    @Test
    void permitsOfTheOtherPolicy_thatComeBackBeforeTheMove_areNotLost() {
        try (QueueScene scene = scene(LONG)) {
            CompletableFuture<Decision> holder = scene.ask(SLOTS.charge("acme"));
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            scene.onDecision = decision -> {
                scene.onDecision = any -> {};
                scene.release(holder);
            };

            scene.advance(Duration.ofSeconds(8));

            assertThat(admitted(moving)).isTrue();
        }
    }

    @Test
    void move_doesNotProlongTheWait() {
        try (QueueScene scene =
                new QueueScene(Map.of("user", Waiting.of(Duration.ofSeconds(9), 100), "tenant", LONG))) {
            assertThat(scene.ask(SLOTS.charge("acme"))).isCompleted();
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            scene.advance(Duration.ofSeconds(8));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(1);

            scene.advance(Duration.ofSeconds(1));

            assertThat(refused(moving)).isTrue();
        }
    }

    @Test
    void policyThatRefusesAtOnce_doesSoNextToOneThatWaitsLonger() {
        try (QueueScene scene = scene(Waiting.of(Duration.ofSeconds(1), 100))) {
            assertThat(scene.ask(TENANT.charge("acme", 3))).isCompleted();
            scene.advance(Duration.ofSeconds(20));
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();

            CompletableFuture<Decision> alone = scene.ask(TENANT.charge("acme"));
            CompletableFuture<Decision> beside = scene.ask(USER.charge("u0"), TENANT.charge("acme"));

            assertThat(refused(alone)).isTrue();
            assertThat(refused(beside)).isTrue();
        }
    }

    @Test
    void maxWaitOfZero_letsNobodyWait() {
        try (QueueScene scene = scene(Waiting.of(Duration.ZERO, 100))) {
            assertThat(scene.ask(SLOTS.charge("acme"))).isCompleted();

            assertThat(refused(scene.ask(SLOTS.charge("acme")))).isTrue();
        }
    }

    /** Whoever came later waits longer, in whichever line. */
    @Test
    void move_keepsThePlaceOfTheArrival() {
        try (QueueScene scene = scene(LONG)) {
            CompletableFuture<Decision> holder = scene.ask(SLOTS.charge("acme"));
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> before = scene.ask(SLOTS.charge("acme"));
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            CompletableFuture<Decision> behind = scene.ask(SLOTS.charge("acme"));
            scene.advance(Duration.ofSeconds(8));
            assertThat(scene.queue.waiting("tenant")).isEqualTo(3);

            scene.release(holder);
            assertThat(admitted(before)).isTrue();
            assertThat(moving).isNotDone();
            scene.release(before);

            assertThat(admitted(moving)).isTrue();
            assertThat(behind).isNotDone();
        }
    }

    /** It is the oldest one that has to go, even if it has come to the line last. */
    @Test
    void newestFirst_moverWhoCameFirst_isTheOneWhoFindsNoRoom() {
        try (QueueScene scene = scene(new Waiting(Duration.ofSeconds(60), 2, Order.NEWEST_FIRST))) {
            assertThat(scene.ask(SLOTS.charge("acme"))).isCompleted();
            assertThat(scene.ask(USER.charge("u0"))).isCompleted();
            CompletableFuture<Decision> moving = scene.ask(USER.charge("u0"), SLOTS.charge("acme"));
            List<CompletableFuture<Decision>> later = scene.ask(2, SLOTS.charge("acme"));

            scene.advance(Duration.ofSeconds(8));

            assertThat(refused(moving)).isTrue();
            assertThat(open(later)).isEqualTo(2);
        }
    }
}

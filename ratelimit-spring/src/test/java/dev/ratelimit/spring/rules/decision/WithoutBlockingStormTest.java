package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * Random histories on an event loop: requests at two stages, whose store answers late, in any order, at once or not at all,
 * and whose clients leave at any moment. Afterwards, exactly what requests were told is charged, and nothing is held.
 */
class WithoutBlockingStormTest {

    private static final int HISTORIES = 200;
    private static final int STEPS = 120;

    private static final RateLimitProperties PROPERTIES = new Binder(new MapConfigurationPropertySource(Map.ofEntries(
                    Map.entry("ratelimit.policies.early.limit", "1000/day"),
                    Map.entry("ratelimit.policies.slots.concurrency", "3"),
                    Map.entry("ratelimit.policies.tried.limit", "2/day"),
                    Map.entry("ratelimit.policies.tried.mode", "shadow"),
                    Map.entry("ratelimit.policies.late.limit", "12/day"),
                    Map.entry("ratelimit.policies.late.stage", "after-security"),
                    Map.entry("ratelimit.policies.late-slots.concurrency", "2"),
                    Map.entry("ratelimit.policies.late-slots.stage", "after-security"),
                    Map.entry("ratelimit.policies.late-slots.on-exceeded.action", "wait"),
                    Map.entry("ratelimit.policies.late-slots.on-exceeded.max-wait", "5s"),
                    Map.entry("ratelimit.policies.late-slots.on-exceeded.queue", "2"),
                    Map.entry("ratelimit.policies.late-slots.key", "header:X-Waits"),
                    Map.entry("ratelimit.policies.late-slots.missing-key", "skip"),
                    Map.entry("ratelimit.policies.failed.limit", "1000/day"),
                    Map.entry("ratelimit.policies.failed.stage", "after-security"),
                    Map.entry("ratelimit.policies.failed.free", "2xx"))))
            .bind("ratelimit", RateLimitProperties.class)
            .get();

    /** A request between its first step and its last. */
    private static final class Client {

        private final RecordedRequest request;
        private final List<RequestLimiter> stages;
        private int stage;
        private @Nullable ChargedRequest charged;

        Client(boolean waits, RequestLimiter... stages) {
            this.request = new RecordedRequest("GET", "/").by("alice");
            this.stages = List.of(stages);
            if (waits) {
                request.with("X-Waits", "a");
            }
        }

        boolean isWaiting() {
            return charged != null && charged.isWaiting();
        }
    }

    private final class History {

        private final Random random;
        private final FakeTicker ticker = new FakeTicker().advanceOnRead(Duration.ofNanos(1));
        private final RateLimitStore memory =
                InMemoryStore.builder().ticker(ticker).build();
        private final LateStore store = new LateStore(memory, ticker);
        private final RequestRules rules;
        private final WaitingRequests waiting;
        private final RequestLimiter early;
        private final RequestLimiter late;
        private final List<Client> clients = new ArrayList<>();
        private final List<Client> over = new ArrayList<>();
        private int chargedEarly;
        private int chargedLate;
        private int failed;

        History(long seed) {
            random = new Random(seed);
            rules = new RequestRules(PROPERTIES, new DefaultListableBeanFactory(), text -> text, limit -> {});
            rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
            waiting = new WaitingRequests(rules, store, ticker, store);
            RequestLimiter limiter = new RequestLimiter(
                            rules, PROPERTIES, waiting, (policy, key, outcome, request) -> {}, ticker, null)
                    .withoutBlocking();
            early = limiter.beforeSecurity();
            late = limiter.afterSecurity();
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                step();
            }
            waiting.close();
            for (int i = 0; i < 100 && !(clients.isEmpty() && store.open().isEmpty()); i++) {
                store.runBlocking();
                store.answerAll();
                List.copyOf(over).forEach(this::goOn);
                clients.stream().filter(client -> !client.isWaiting()).toList().forEach(this::goOn);
            }
            assertThat(clients).isEmpty();
            store.blocking(this::check);
        }

        private void check() {
            assertThat(left("slots", "")).as("slots").isEqualTo(3);
            assertThat(left("late-slots", "h1:a")).as("late-slots").isEqualTo(2);
            assertThat(left("early", "")).as("early").isEqualTo(1000 - chargedEarly);
            assertThat(left("late", "")).as("late").isEqualTo(12 - chargedLate);
            assertThat(left("failed", "")).as("failed").isEqualTo(1000 - failed);
            assertThat(waiting.waiting("late-slots")).isZero();
        }

        private long left(String policy, String key) {
            Policy limits = rules.inForce().rule(policy).policy();
            return memory.peek(List.of(limits.charge(key))).limits().get(0).remaining();
        }

        private void step() {
            switch (random.nextInt(10)) {
                case 0, 1 -> {
                    Client client = new Client(random.nextInt(3) == 0, early, late);
                    clients.add(client);
                    charge(client);
                }
                case 2, 3, 4 -> answer();
                case 5, 6 -> any(over, this::goOn);
                case 7 ->
                    any(clients, client -> {
                        if (!client.isWaiting()) {
                            goOn(client);
                        }
                    });
                case 8 -> any(clients, this::leave);
                default -> {
                    store.answerAtOnce(random.nextBoolean());
                    store.runBlocking();
                    ticker.advance(Duration.ofMillis(random.nextInt(1000)));
                }
            }
        }

        private <T> void any(List<T> all, Consumer<T> task) {
            if (!all.isEmpty()) {
                task.accept(all.get(random.nextInt(all.size())));
            }
        }

        private void answer() {
            List<String> open = store.open();
            if (open.isEmpty()) {
                return;
            }
            int index = random.nextInt(open.size());
            if (!open.get(index).equals("refund") && random.nextInt(8) == 0) {
                store.fail(
                        index,
                        random.nextBoolean()
                                ? new StoreUnavailableException("early", Duration.ofSeconds(1), "no answer")
                                : new IllegalStateException("broken"));
            } else {
                store.answer(index);
            }
        }

        private void charge(Client client) {
            ChargedRequest charged;
            try {
                charged = client.stages.get(client.stage).charge(client.charged, client.request, true);
            } catch (IllegalStateException e) {
                clients.remove(client);
                return;
            }
            client.charged = charged;
            if (charged.isWaiting()) {
                charged.whenOver(() -> over.add(client));
            } else if (charged.isRefused()) {
                clients.remove(client);
                charged.release();
                chargedEarly -= client.stage;
            } else {
                chargedEarly += client.stage == 0 ? 1 : 0;
                chargedLate += client.stage;
                failed += client.stage;
                client.stage++;
            }
        }

        /** To the next stage, or to the end. */
        private void goOn(Client client) {
            over.remove(client);
            if (!clients.contains(client)) {
                return;
            }
            ChargedRequest charged = client.charged;
            if (client.stage < 2 || charged == null) {
                charge(client);
                return;
            }
            int status = random.nextBoolean() ? 200 : 500;
            failed -= status == 200 ? 1 : 0;
            charged.settle(List.of(status));
            charged.countAdmitted();
            charged.release();
            clients.remove(client);
        }

        private void leave(Client client) {
            clients.remove(client);
            over.remove(client);
            ChargedRequest charged = client.charged;
            if (charged != null) {
                // refused, but it has not been answered yet
                chargedEarly -= charged.isRefused() ? client.stage : 0;
                charged.leave();
                charged.release();
            }
        }
    }

    @Test
    void history_random_chargesWhatRequestsWereToldAndHoldsNothing() {
        for (int seed = 0; seed < HISTORIES; seed++) {
            try {
                new History(seed).run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }
}

package dev.ratelimit.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Faults;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every call that the store makes, to a clock, a scheduler, a thread, a connection, a listener or random numbers, fails once,
 * and so does the reading of each reply. Half a minute later Redis decides, nothing is charged that nobody holds, and a closed
 * store leaves nothing behind.
 */
@ExtendWith(SilentLog.class)
@Tag("slow")
class RedisStoreFaultsTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(10));
    private static final Policy WINDOW = Policy.of("window", FixedWindow.of(Rate.parse("10/hour")));
    private static final Policy SHARED = Policy.of("shared", TokenBucket.of(Rate.parse("1000/day")));

    /** A store whose collaborators fail, and its only caller. */
    private static final class Application {

        private final Faults faults;
        private final FakeTicker time = new FakeTicker();
        private final FakeRedis redis = new FakeRedis(time);
        private final @Nullable RedisStore started;
        private final @Nullable RateLimitStore store;
        private final List<Decision> held = new ArrayList<>();
        private final List<CompletableFuture<?>> unanswered = new ArrayList<>();
        private int windowCharges;
        private int sharedCharges;
        private boolean mayBeReset;

        /** A reset that fails has ended the leases of its key without a refund. */
        private boolean leasesMayBeLost;

        private boolean outage;

        private final boolean async;

        Application(Faults faults, boolean leased, boolean async) {
            this.faults = faults;
            this.async = async;
            RedisStoreBuilder builder = new RedisStoreBuilder(settings -> new FaultyServer())
                    .ticker(faults.in(Ticker.class, time))
                    .scheduler(scheduler())
                    .threads(faults.in(Executor.class, task -> time.schedule(task, 0)))
                    .random(faults.in(RandomGenerator.class, new Random(1)))
                    .executor(faults.in(Executor.class, Runnable::run))
                    .listener(faults.in(RemoteStoreListener.class, new RemoteStoreListener() {}))
                    .denyCache(Duration.ZERO)
                    .failures(3);
            started = start(builder);
            store = leased && started != null ? leasing(started) : started;
        }

        private @Nullable RedisStore start(RedisStoreBuilder builder) {
            try {
                return builder.build();
            } catch (RuntimeException | Error e) {
                requireInjected(e);
                return null;
            }
        }

        private @Nullable RateLimitStore leasing(RedisStore from) {
            try {
                return new LeasingStore(
                        from,
                        0.1,
                        Duration.ofSeconds(1),
                        RedisStore::decidedByRedis,
                        faults.in(Ticker.class, time),
                        scheduler());
            } catch (RuntimeException | Error e) {
                requireInjected(e);
                from.close();
                return null;
            }
        }

        RateLimitStore store() {
            return requireNonNull(store);
        }

        /** A pool of threads outlives what its tasks throw. */
        private Scheduler scheduler() {
            Scheduler faulty = faults.in(Scheduler.class, redis);
            return new Scheduler() {
                @Override
                public Alarm schedule(Runnable task, long delayNanos) {
                    return faulty.schedule(
                            () -> {
                                try {
                                    task.run();
                                } catch (RuntimeException | Error e) {
                                    requireInjected(e);
                                }
                            },
                            delayNanos);
                }

                @Override
                public boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
                    return faulty.await(future, nanos);
                }
            };
        }

        private final class FaultyServer extends OneServer {

            @Override
            public Connection connect(String server) {
                faults.call("Topology.connect");
                return new FaultyConnection(redis.connect(server));
            }

            @Override
            public String title(String server) {
                return "fake";
            }
        }

        private final class FaultyConnection implements Connection {

            private final Connection connection;

            FaultyConnection(Connection connection) {
                this.connection = connection;
            }

            @Override
            public String server() {
                return connection.server();
            }

            @Override
            public boolean isOpen() {
                faults.call("Connection.isOpen");
                return connection.isOpen();
            }

            @Override
            public void whenClosed(Runnable action) {
                faults.call("Connection.whenClosed");
                connection.whenClosed(action);
            }

            @Override
            public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
                faults.call("Connection.send");
                CompletableFuture<long[]> reply = new CompletableFuture<>();
                try {
                    CompletableFuture<long[]> unused = connection
                            .send(() -> write(call), asking)
                            .whenComplete((numbers, failure) -> read(numbers, failure, reply));
                } catch (RuntimeException | Error e) {
                    // the client's thread tells what the command threw
                    reply.completeExceptionally(StoreFailure.stalled(String.valueOf(e), e));
                }
                return reply;
            }

            private @Nullable Call write(Supplier<@Nullable Call> call) {
                faults.call("Connection writes");
                Call made = call.get();
                faults.call("Connection has written");
                return made;
            }

            private void read(long @Nullable [] numbers, @Nullable Throwable failure, CompletableFuture<long[]> reply) {
                try {
                    faults.call("Connection reads");
                } catch (RuntimeException | Error e) {
                    reply.completeExceptionally(e);
                    return;
                }
                if (failure == null) {
                    reply.complete(numbers);
                } else {
                    reply.completeExceptionally(failure);
                }
            }

            @Override
            public CompletableFuture<String> clusterNodes() {
                return connection.clusterNodes();
            }

            @Override
            public CompletableFuture<String> memory() {
                faults.call("Connection.memory");
                return connection.memory();
            }

            @Override
            public CompletionStage<Void> close() {
                faults.call("Connection.close");
                return connection.close();
            }
        }

        private void requireInjected(Throwable thrown) {
            assertThat(thrown).hasMessageContaining("fault");
        }

        void decide(Policy... policies) {
            List<Charge> charges =
                    Stream.of(policies).map(policy -> policy.charge("k")).toList();
            if (async) {
                CompletableFuture<Decision> decided =
                        store().decideAsync(charges).toCompletableFuture();
                CompletableFuture<Void> unused = decided.handle((decision, failure) -> {
                    if (failure == null) {
                        decided(decision, policies);
                    } else {
                        requireInjected(failure);
                    }
                    return null;
                });
                unanswered.add(unused);
                untilTheDeadline();
                return;
            }
            Decision decision;
            try {
                decision = store().decide(charges);
            } catch (RuntimeException | Error e) {
                requireInjected(e);
                return;
            }
            decided(decision, policies);
        }

        private void decided(Decision decision, Policy... policies) {
            if (decision.admitted()) {
                held.add(decision);
                boolean there = decision.charges().stream().allMatch(charge -> Seam.byServer(decision, charge));
                windowCharges += there && List.of(policies).contains(WINDOW) ? 1 : 0;
                sharedCharges += there && List.of(policies).contains(SHARED) ? 1 : 0;
            }
        }

        /** The holders end, and return what can be returned. */
        void finish() {
            for (Decision decision : held) {
                List<Charge> slots = decision.charges().stream()
                        .filter(charge -> charge.policy().equals(SLOTS))
                        .toList();
                if (async) {
                    unanswered.add(store().refundAsync(decision, slots)
                            .exceptionally(failure -> {
                                requireInjected(failure);
                                return null;
                            })
                            .toCompletableFuture());
                    untilTheDeadline();
                    continue;
                }
                try {
                    store().refund(decision, slots);
                } catch (RuntimeException | Error e) {
                    requireInjected(e);
                }
            }
            held.clear();
        }

        void reset() {
            mayBeReset = true;
            try {
                leasesMayBeLost = true;
                leasesMayBeLost = !store().reset(SHARED, "k");
            } catch (RuntimeException | Error e) {
                requireInjected(e);
            }
        }

        private void untilTheDeadline() {
            time.advance(Duration.ofMillis(50));
        }

        void seconds(int seconds) {
            for (int i = 0; i < 10 * seconds; i++) {
                time.advance(Duration.ofMillis(100));
            }
        }

        /** For this time, somebody asks each second: what an alarm that cannot be set would do, the next call does. */
        void ask(int seconds) {
            for (int i = 0; i < seconds; i++) {
                try {
                    Decision unused = store().peek(List.of(SLOTS.charge("k")));
                } catch (RuntimeException | Error e) {
                    requireInjected(e);
                }
                seconds(1);
            }
        }

        /** Only a rate whose reply was lost may stay charged, until it refills. */
        void requireWell() {
            assertThat(unanswered)
                    .as("answered, and as it should be")
                    .allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
            assertThat(requireNonNull(started).available()).as("is used").isTrue();
            assertThat(used(SLOTS)).as("slots in use").isLessThanOrEqualTo(faultsAtOnce() ? 1 : 0);
            boolean lost = "Connection reads".equals(faults.failed());
            assertThat(used(WINDOW))
                    .as("charges to the window")
                    .isBetween((long) windowCharges, windowCharges + (lost ? 1L : 0));
            // which refills one in 86 s
            assertThat(used(SHARED))
                    .as("charges to the bucket")
                    .isBetween(
                            mayBeReset ? 0 : sharedCharges - 1L,
                            sharedCharges + (lost || leasesMayBeLost || isTimeUnknown() ? 64L : 0));
        }

        /** A refund that fails because the server is down is not kept if just then nobody knows the time. */
        private boolean faultsAtOnce() {
            return outage && "Ticker.nanos".equals(faults.failed());
        }

        /** A lease that ends just when nobody knows the time is not refunded. */
        private boolean isTimeUnknown() {
            return "Ticker.nanos".equals(faults.failed());
        }

        long used(Policy policy) {
            Decision decision = store().peek(List.of(policy.charge("k")));
            assertThat(RedisStore.decidedByRedis(decision)).as("Redis decides").isTrue();
            return policy.limits().get(0).capacity() - decision.limits().get(0).remaining();
        }
    }

    private interface Scenario {
        void in(Application application);
    }

    private static Scenario scenario(Scenario scenario) {
        return scenario;
    }

    private static void outage(Application application) {
        application.decide(SLOTS);
        application.outage = true;
        application.redis.goDown();
        for (int i = 0; i < 5; i++) {
            application.decide(SLOTS);
        }
        application.finish();
        application.seconds(2);
        application.redis.comeBack();
        application.seconds(4);
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                        arguments("an answer", scenario(application -> {
                            application.decide(SLOTS, WINDOW);
                            application.finish();
                        })),
                        arguments("a refusal", scenario(application -> {
                            for (int i = 0; i < 11; i++) {
                                application.decide(SLOTS);
                            }
                            application.finish();
                        })),
                        arguments("an answer that comes late", scenario(application -> {
                            application.redis.delayReplies();
                            application.decide(SLOTS);
                            application.decide(WINDOW);
                            application.redis.deliver();
                        })),
                        arguments("an answer that never comes", scenario(application -> {
                            application.redis.loseReplies();
                            application.decide(SLOTS);
                            application.redis.cut();
                        })),
                        arguments("an outage", scenario(RedisStoreFaultsTest::outage)),
                        arguments("leases", scenario(application -> {
                            for (int i = 0; i < 30; i++) {
                                application.decide(SHARED);
                            }
                            application.seconds(3);
                        })),
                        arguments("leases that are reset", scenario(application -> {
                            for (int i = 0; i < 30; i++) {
                                application.decide(SHARED);
                            }
                            application.reset();
                        })))
                .flatMap(Faults::ofEachKind);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void anyCallThatFails_leavesNothingBehind(String name, Scenario scenario, Supplier<Throwable> failure) {
        requireNothingLeft(name, scenario, failure, false);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void anyCallThatFails_whileNobodyBlocks_leavesNothingBehind(
            String name, Scenario scenario, Supplier<Throwable> failure) {
        requireNothingLeft(name, scenario, failure, true);
    }

    private static void requireNothingLeft(String name, Scenario scenario, Supplier<Throwable> failure, boolean async) {
        int runs = Faults.inTurn(failure, faults -> {
            Application application = new Application(faults, name.startsWith("leases"), async);

            if (application.store != null) {
                scenario.in(application);
                application.ask(30);
                faults.end();
                application.requireWell();
                application.store().close();
            }

            assertThat(application.redis.connections()).as("connections").isZero();
            assertThat(application.time.alarms()).as("alarms").isZero();
        });

        assertThat(runs).as(name).isGreaterThan(20);
    }
}

package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.remote.Combiner;
import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Charges that share a command. */
class CombinerTest {

    private static final Policy SHARED = Policy.of("shared", TokenBucket.of(Rate.of(5, Duration.ofDays(1))));
    private static final Policy USER = Policy.of("user", TokenBucket.of(Rate.of(2, Duration.ofDays(1))));
    private static final Policy LOG = Policy.of("log", SlidingLog.of(Rate.of(2, Duration.ofDays(1))));
    private static final Policy AMPLE = Policy.of("ample", TokenBucket.of(Rate.of(1_000_000, Duration.ofDays(1))));

    private static final int MANY = 100_000;

    private final KeyNames names = new KeyNames("test");
    private final ScriptServer server = new ScriptServer(() -> 1_800_000_000_000_000L);
    private final Wire wire = new Wire();
    private final RedisStoreBuilder builder = new RedisStoreBuilder(settings -> new Wired())
            .ticker(new FakeTicker())
            .threads(Runnable::run)
            .maxInFlight(MANY);
    private final ScriptExecutor executor = new ScriptExecutor(builder.settings(), new OnlyServer());
    private final Events events = new Events();
    private final OperatorLog operatorLog = new OperatorLog(builder.settings().remote());
    private final Node node = new Node(
            new Wired(), Topology.ANY, executor, builder.settings(), operatorLog, new EvictionCheck(new Wired()));

    /** Commands under way, written and answered in order when a test says so. */
    private final class Wire implements Connection {

        private record Posted(Supplier<@Nullable Call> call, CompletableFuture<long[]> reply) {}

        private record Sent(Call call, CompletableFuture<long[]> reply) {}

        private final Queue<Posted> posted = new ConcurrentLinkedQueue<>();
        private final Queue<Sent> sent = new ConcurrentLinkedQueue<>();
        private boolean lost;

        @Override
        public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
            CompletableFuture<long[]> reply = new CompletableFuture<>();
            if (lost) {
                reply.completeExceptionally(new RedisException("Connection closed"));
            } else {
                posted.add(new Posted(call, reply));
            }
            return reply;
        }

        /** Writes what was posted so far. */
        synchronized void write() {
            for (int left = posted.size(); left > 0; left--) {
                Posted first = posted.remove();
                Call call = first.call.get();
                if (call == null) {
                    first.reply.completeExceptionally(StoreFailure.stalled("nobody waits", null));
                } else {
                    sent.add(new Sent(call, first.reply));
                }
            }
        }

        /** Answers the first command and returns the number of its charges, or 0 if there is no command. */
        synchronized int answer() {
            Sent first = sent.poll();
            if (first == null) {
                return 0;
            }
            Call call = first.call;
            long[] reply;
            try {
                reply = server.eval(call.script().text(), call.keys(), call.arguments());
            } catch (RuntimeException e) {
                first.reply.completeExceptionally(e);
                return 1;
            }
            first.reply.complete(reply);
            return charges(call);
        }

        void fail(RuntimeException failure) {
            sent.remove().reply.completeExceptionally(failure);
        }

        /** Fails whatever is under way and whatever is sent from now on. */
        void lose() {
            lost = true;
            Stream.generate(sent::poll)
                    .takeWhile(Objects::nonNull)
                    .forEach(each -> each.reply.completeExceptionally(new RedisException("Connection closed")));
            Stream.generate(posted::poll)
                    .takeWhile(Objects::nonNull)
                    .forEach(each -> each.reply.completeExceptionally(new RedisException("Connection closed")));
        }

        private int charges(Call call) {
            // each charge of these tests has as many limits as the first
            return call.arguments()[2].length / (2 + 4 * call.arguments()[2][1]);
        }

        void answerAll() {
            do {
                write();
            } while (answer() > 0 || !posted.isEmpty());
        }

        @Override
        public String server() {
            return Topology.ANY;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void whenClosed(Runnable action) {}

        @Override
        public CompletableFuture<String> clusterNodes() {
            return CompletableFuture.completedFuture("");
        }

        @Override
        public CompletableFuture<String> memory() {
            return CompletableFuture.completedFuture("");
        }

        @Override
        public CompletionStage<Void> close() {
            return CompletableFuture.completedFuture(null);
        }
    }

    private final class Wired extends OneServer {

        @Override
        public String title(String name) {
            return "";
        }

        @Override
        public Connection connect(String name) {
            return wire;
        }
    }

    @AfterEach
    void close() {
        operatorLog.close();
        node.close();
        events.close();
    }

    private Request send(Charge... charges) {
        Batch batch = new Batch(0, 0);
        for (Charge charge : charges) {
            batch.add(
                    charge,
                    charge.policy().limits().stream().map(RedisLimits::of).toList(),
                    names.name(charge.policy().name(), charge.key()));
        }
        return node.send(batch, Operation.CHARGE, 0, new ArrayList<>(1));
    }

    private List<Request> sendUsers(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> send(SHARED.charge(""), USER.charge("u" + i)))
                .toList();
    }

    /** Charges of two users that share a command, which fails with this reply of the server. */
    private List<Request> sendUsersInVain(String reply) {
        List<Request> others = sendUsers(2, 4);
        wire.write();
        wire.fail(new RedisCommandExecutionException(reply));
        return others;
    }

    private static List<Boolean> admitted(List<Request> sent) {
        return sent.stream().map(each -> Inside.answer(each).admitted()).toList();
    }

    @Test
    void charge_severalBeforeTheConnectionWrites_leaveTogether() {
        List<Request> first = sendUsers(0, 2);
        wire.write();
        List<Request> others = sendUsers(2, 7);
        wire.write();

        assertThat(wire.sent).hasSize(2);
        assertThat(wire.answer()).isEqualTo(2);
        assertThat(wire.answer()).isEqualTo(5);
        assertThat(admitted(first)).containsExactly(true, true);
        // the shared limit has five permits: each charge is all or nothing by itself
        assertThat(admitted(others)).containsExactly(true, true, true, false, false);
    }

    @Test
    @DisplayName("no charge waits for another one's answer, however many are under way")
    void charge_oneAfterAnother_eachIsWrittenAtOnce() {
        for (int i = 0; i < 10; i++) {
            send(AMPLE.charge("u" + i));
            wire.write();
        }

        assertThat(wire.sent).hasSize(10);
    }

    @Test
    void charge_refusedAmongOthers_paysNothing() {
        sendUsers(0, 2);
        List<Request> others = List.of(
                send(SHARED.charge("", 2), USER.charge("u9", 3)),
                send(SHARED.charge("", 2), USER.charge("u9", 2)),
                send(SHARED.charge("", 2), USER.charge("u8", 1)),
                send(SHARED.charge("", 1), USER.charge("u8", 2)));
        wire.answerAll();

        assertThat(admitted(others)).containsExactly(false, true, false, true);
    }

    @Test
    @DisplayName("charges of several algorithms share a script that has them all")
    void charge_otherAlgorithms_areDecidedInTheSameCommand() {
        List<Request> others =
                List.of(send(LOG.charge("k")), send(USER.charge("k", 2)), send(LOG.charge("k")), send(LOG.charge("k")));
        wire.answerAll();

        assertThat(admitted(others)).containsExactly(true, true, true, false);
    }

    @Test
    @DisplayName("a command takes 32, and for each 32 that wait, one is on its way")
    void charge_manyWait_fullCommandsLeaveTogether() {
        List<Request> all = IntStream.range(0, 72)
                .mapToObj(i -> send(AMPLE.charge("u" + i)))
                .toList();
        wire.write();

        assertThat(wire.posted).isEmpty();
        assertThat(Stream.generate(wire::answer).limit(4)).containsExactly(32, 32, 8, 0);
        assertThat(admitted(all)).containsOnly(true);
    }

    @Test
    void charge_ofManyLimits_goesAlone() {
        Charge[] large =
                IntStream.range(0, 9).mapToObj(i -> AMPLE.charge("k" + i)).toArray(Charge[]::new);
        List<Request> all = List.of(send(AMPLE.charge("x")), send(large), send(AMPLE.charge("y")), send(large));
        wire.write();

        assertThat(Stream.generate(wire::answer).limit(4)).containsExactly(2, 1, 1, 0);
        assertThat(admitted(all)).containsOnly(true);
    }

    @Test
    @DisplayName("if all of a command have given up by the time it is written, nothing is asked")
    void charge_allGaveUp_nothingIsSent() {
        Request impatient = send(USER.charge("k", 2));
        assertThat(failure(impatient)).isEqualTo(RemoteStoreFailure.STALLED);
        wire.write();

        assertThat(wire.sent).isEmpty();
        assertThat(node.available()).isTrue();
        Request next = send(USER.charge("k", 2));
        wire.answerAll();
        assertThat(Inside.answer(next).admitted()).isTrue();
    }

    @Test
    @DisplayName("commands that were never written say nothing about the server, however many")
    void charge_neverWritten_doesNotOpenTheBreaker() {
        for (int i = 0; i < 2 * Inside.WINDOW; i++) {
            assertThat(failure(send(USER.charge("k")))).isEqualTo(RemoteStoreFailure.STALLED);
        }

        assertThat(node.available()).isTrue();
    }

    @Test
    void charge_writtenAndNotAnswered_opensTheBreaker() {
        for (int i = 0; i < Inside.WINDOW / 2; i++) {
            Request sent = send(USER.charge("k"));
            wire.write();
            assertThat(failure(sent)).isEqualTo(RemoteStoreFailure.TIMEOUT);
        }

        assertThat(node.available()).isFalse();
    }

    private static StoreFailure.Reason failure(Request sent) {
        try {
            Inside.await(sent, 0);
            throw new AssertionError("answered");
        } catch (StoreFailure e) {
            return e.reason();
        }
    }

    @Test
    @DisplayName("who gives up while waiting for a command is not charged")
    void charge_callerGaveUp_isNotSent() {
        Request impatient = send(USER.charge("k", 2));
        assertThatExceptionOfType(StoreFailure.class).isThrownBy(() -> Inside.await(impatient, 0));
        Request patient = send(USER.charge("k", 2));
        wire.answerAll();

        assertThat(Inside.answer(patient).admitted()).isTrue();
    }

    @Test
    @DisplayName("who gives up before the server knows the script is not charged, and the others are")
    void charge_callerGaveUp_isNotSentAgain() {
        Request impatient = send(USER.charge("k", 2));
        Request patient = send(USER.charge("k"));
        Request alsoPatient = send(USER.charge("k"));
        wire.write();
        assertThatExceptionOfType(StoreFailure.class).isThrownBy(() -> Inside.get(impatient, 0));
        wire.fail(new RedisNoScriptException("NOSCRIPT No matching script."));
        wire.answerAll();

        assertThat(admitted(List.of(patient, alsoPatient))).containsOnly(true);
    }

    @Test
    @DisplayName("E12 a key that no limit wrote fails only the charges to it")
    void charge_foreignKey_failsOnlyItsCharges() {
        server.put(names.name("user", "foreign") + 0, "something else".getBytes(StandardCharsets.US_ASCII));
        Request good = send(USER.charge("good"));
        Request bad = send(USER.charge("foreign"));
        Request alsoGood = send(USER.charge("good"));
        wire.answerAll();

        assertThat(admitted(List.of(good, alsoGood))).containsOnly(true);
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> Inside.get(bad, 0))
                .withMessageContaining(names.name("user", "foreign") + 0);
    }

    @Test
    @DisplayName("an error of the script, which charged nothing, fails only the charge that causes it")
    void charge_damagedState_failsOnlyItsCharges() {
        String notation = new String(RedisLimits.of(USER.limits().get(0)).signature(), StandardCharsets.US_ASCII);
        server.put(names.name("user", "damaged") + 0, (notation + "short").getBytes(StandardCharsets.US_ASCII));
        Request good = send(USER.charge("good", 2));
        Request bad = send(USER.charge("damaged"));
        Request tooMany = send(USER.charge("good"));
        wire.answerAll();

        assertThat(Inside.answer(good).admitted()).isTrue();
        assertThat(Inside.answer(tooMany).admitted()).isFalse();
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> Inside.get(bad, 0))
                .matches(failure -> failure.reason() == RedisStoreFailure.SCRIPT);
    }

    @Test
    void charge_serverFails_failsAllOfTheCommand() {
        List<Request> others = sendUsersInVain("OOM command not allowed");

        assertThat(wire.sent).isEmpty();
        assertThat(others)
                .allSatisfy(each -> assertThatExceptionOfType(StoreFailure.class)
                        .isThrownBy(() -> Inside.get(each, 0))
                        .matches(failure -> failure.reason() == RedisStoreFailure.OOM));
    }

    @Test
    @DisplayName("while its slot moves, a server that has some of a command's keys decides each charge that has all")
    void charge_slotMoves_eachIsAskedAlone() {
        List<Request> others = sendUsersInVain("TRYAGAIN Multiple keys request during rehashing of slot");

        wire.write();
        assertThat(wire.sent).hasSize(2);
        wire.answerAll();
        assertThat(admitted(others)).containsExactly(true, true);
    }

    @Test
    @DisplayName("when a connection is lost, any number of callers that wait are told at once")
    void charge_connectionIsLost_allAreTold() {
        List<Request> large =
                IntStream.range(0, MANY).mapToObj(i -> send(AMPLE.charge("k"))).toList();

        wire.lose();

        assertThat(large)
                .allSatisfy(each -> assertThatExceptionOfType(StoreFailure.class)
                        .isThrownBy(() -> Inside.get(each, 0))
                        .withMessageContaining("Connection closed"));
    }

    @Test
    @DisplayName("a new connection does not wait for the commands of the old one")
    void combiner_newConnection_isAnother() {
        Combiner<Batch, Reply> old = node.combiner(wire, 0);
        assertThat(node.combiner(wire, 0)).isSameAs(old);
        assertThat(node.combiner(wire, 1)).isNotSameAs(old);

        Wire other = new Wire();
        assertThat(node.combiner(other, 0)).isNotSameAs(old);
    }

    @Test
    void charge_manyThreads_allAreAnsweredAndTheCapacityIsAdmitted() throws InterruptedException {
        Policy policy = Policy.of("threads", TokenBucket.of(Rate.of(1_000, Duration.ofDays(1))));
        AtomicInteger admitted = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        threads.execute(() -> {
            while (answered.get() < 4_000) {
                wire.write();
                wire.answer();
            }
        });
        for (int i = 0; i < 4; i++) {
            threads.execute(() -> IntStream.range(0, 1_000).forEach(turn -> {
                Request sent = send(policy.charge("k"));
                Inside.then(sent, (answer, failure) -> {
                    admitted.addAndGet(answer != null && answer.admitted() ? 1 : 0);
                    answered.incrementAndGet();
                });
                while (answered.get() + 500 < turn) {
                    Thread.onSpinWait();
                }
            }));
        }
        threads.shutdown();

        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(admitted).hasValue(1_000);
    }

    @Test
    @DisplayName("a command that failed before it was written takes nobody along: they have been told that it failed")
    void charge_commandFailsBeforeItIsWritten_asksNothing() {
        Request sent = send(USER.charge("u"));
        Wire.Posted posted = wire.posted.remove();
        posted.reply.completeExceptionally(new RedisException("timed out in the queue"));
        assertThat(failure(sent)).isEqualTo(RemoteStoreFailure.CONNECTION);

        assertThat(posted.call.get()).isNull();
    }

    @Test
    @DisplayName(
            "a command that got lost, as by a thread without stack, costs those who wait for it, and nobody after them")
    void charge_commandGotLost_othersAreSent() {
        List<Request> lost = sendUsers(0, 3);
        assertThat(wire.posted.remove()).isNotNull();
        lost.forEach(each -> assertThat(failure(each)).isEqualTo(RemoteStoreFailure.STALLED));

        for (int i = 0; i < 100; i++) {
            Request next = send(AMPLE.charge("next"));
            wire.answerAll();
            assertThat(Inside.await(next, 0).admitted()).isTrue();
        }
    }

    @Test
    @DisplayName("while a connection writes nothing, few commands pile up")
    void charge_connectionWritesLate_postsFewCommands() {
        for (int i = 0; i < 1_000; i++) {
            assertThat(failure(send(AMPLE.charge("late")))).isEqualTo(RemoteStoreFailure.STALLED);
        }

        assertThat(wire.posted).hasSizeLessThan(70);
    }
}

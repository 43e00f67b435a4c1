package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.Answer;
import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that never answers. */
@SuppressWarnings("NullAway.Init") // each test starts it
@Tag("servers")
class NodeTest {

    private static final Duration DEADLINE = Duration.ofMillis(50);

    @Started
    private RedisServer server;

    private final FakeTicker time = new FakeTicker();
    private final Events events = new Events();
    private final List<OperatorLog> operatorLogs = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private Gate gate;
    private RedisStoreBuilder builder;
    private ScriptExecutor executor;
    private Node node;

    @BeforeEach
    void start() {
        gate = new Gate(server, new AtomicInteger());
        builder = new RedisStoreBuilder(ticker -> gate)
                .ticker(time)
                .failures(1)
                .deadline(DEADLINE)
                .listener(events);
        executor = new ScriptExecutor(builder.settings(), new OnlyServer());
        node = newNode();
    }

    private Node newNode() {
        OperatorLog operatorLog = new OperatorLog(builder.settings().remote());
        operatorLogs.add(operatorLog);
        Node made = new Node(gate, Topology.ANY, executor, builder.settings(), operatorLog, new EvictionCheck(gate));
        nodes.add(made);
        return made;
    }

    @AfterEach
    void close() {
        // the next timeouts must not appear in the log of another test
        operatorLogs.forEach(OperatorLog::close);
        gate.open();
        nodes.forEach(Node::close);
        gate.close();
        events.close();
    }

    private static Batch batch() {
        Batch batch = new Batch(0, 0);
        batch.add(
                Scene.WIDE.charge("k"),
                Scene.WIDE.limits().stream().map(RedisLimits::of).toList(),
                "name");
        return batch;
    }

    @Test
    void get_beforeTheDeadline_saysNothingOfTheServer() {
        Request sent = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));

        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> Inside.get(sent, 0))
                .matches(failure -> failure.reason() == RemoteStoreFailure.TIMEOUT);

        assertThat(node.available()).isTrue();
    }

    @Test
    @DisplayName("a charge whose caller gave up while connecting is not sent, and a refund is")
    void send_connectionComesTooLate_sendsOnlyRefunds() {
        Request charge = node.send(batch(), Operation.CHARGE, 0, new ArrayList<>(1));
        Request refund = node.send(batch(), Operation.REFUND, 0, new ArrayList<>(1));
        assertThat(failure(charge)).isEqualTo(RemoteStoreFailure.TIMEOUT);
        assertThat(failure(refund)).isEqualTo(RemoteStoreFailure.TIMEOUT);

        gate.open();

        AtomicReference<@Nullable Answer> refunded = new AtomicReference<>();
        Inside.then(refund, (answer, failure) -> refunded.set(answer));
        Scene.awaitUntil(() -> refunded.get() != null);
        assertThat(server.<Long>ask(redis -> redis.dbsize())).isZero();
    }

    @Test
    void post_deadlinePasses_isTheServersFailure() {
        Inside.endBy(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1)), DEADLINE.toNanos());
        assertThat(node.available()).isTrue();

        time.advance(DEADLINE);

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
    @DisplayName(
            "requests that find no place say nothing of a server that hangs, and its places come back at the deadline")
    void send_moreThanMaxInFlight_opensAllTheSame() {
        builder.maxInFlight(1).failures(2);
        node = newNode();
        for (int round = 0; round < 2; round++) {
            Request waiting = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));
            for (int i = 0; i < Inside.WINDOW + 5; i++) {
                assertThat(failure(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                        .isEqualTo(RemoteStoreFailure.SATURATED);
            }
            assertThat(node.available()).isTrue();
            assertThat(failure(waiting)).isEqualTo(RemoteStoreFailure.TIMEOUT);
        }

        assertThat(node.available()).isFalse();
    }

    @Test
    void send_otherNodeHasNoPlace_isSent() {
        builder.maxInFlight(1);
        node = newNode();
        Node other = newNode();
        node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));

        assertThat(failure(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.SATURATED);
        assertThat(failure(other.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.TIMEOUT);
    }

    @Test
    void arrived_afterTheDeadline_freesNoSecondPlace() {
        builder.maxInFlight(1).failures(Inside.WINDOW);
        node = newNode();
        Request late = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));
        assertThat(failure(late)).isEqualTo(RemoteStoreFailure.TIMEOUT);
        node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));

        late.arrived(null, new IllegalStateException("late"));

        assertThat(failure(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.SATURATED);
    }

    @Test
    void goTo_nextServer_takesItsPlaceAndItsBlame() {
        builder.maxInFlight(1);
        node = newNode();
        Node next = newNode();
        Request sent = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));
        assertThat(failure(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.SATURATED);

        sent.goTo(next.health());

        assertThat(failure(next.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.SATURATED);
        assertThat(failure(sent)).isEqualTo(RemoteStoreFailure.TIMEOUT);
        assertThat(node.available()).isTrue();
        assertThat(next.available()).isFalse();
        assertThat(failure(node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.TIMEOUT);
    }

    @Test
    void goTo_nextServerIsLeftAlone_isRefusedThere() {
        Node next = newNode();
        assertThat(failure(next.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.TIMEOUT);
        Request sent = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));

        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> sent.goTo(next.health()))
                .matches(failure -> failure.reason() == RemoteStoreFailure.OPEN);

        assertThat(node.available()).isTrue();
    }

    @Test
    void goTo_nobodyWaitsAnyLonger_takesNoPlace() {
        builder.maxInFlight(1);
        Node next = newNode();
        Request sent = node.send(batch(), Operation.PEEK, 0, new ArrayList<>(1));
        assertThat(failure(sent)).isEqualTo(RemoteStoreFailure.TIMEOUT);

        assertThatExceptionOfType(StoreFailure.class).isThrownBy(() -> sent.goTo(next.health()));

        assertThat(failure(next.send(batch(), Operation.PEEK, 0, new ArrayList<>(1))))
                .isEqualTo(RemoteStoreFailure.TIMEOUT);
    }

    @Test
    @DisplayName("connections that were replaced are not kept in memory for slots that are not used any more")
    void combiner_connectionIsReplaced_isForgotten() {
        FakeRedis redis = new FakeRedis(time);
        ServerSettings settings = redis.store().settings();
        Node changed = new Node(
                redis, Topology.ANY, executor, settings, new OperatorLog(settings.remote()), new EvictionCheck(redis));
        nodes.add(changed);
        WeakReference<Connection> former =
                new WeakReference<>(changed.link().live().join());
        changed.combiner(Objects.requireNonNull(former.get()), 1);

        changed.link().replace();
        time.advance(Duration.ofSeconds(2));

        Scene.awaitUntil(() -> {
            System.gc();
            return former.get() == null;
        });
    }
}

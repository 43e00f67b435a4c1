package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is sent again to a server that does not answer, and when it gets another connection. */
class SilentServerTest {

    private final FakeTicker time = new FakeTicker();
    private final Events events = new Events();
    private final FakeRedis server = new FakeRedis(time);
    private final ServerSettings settings = server.store().listener(events).settings();
    private final OperatorLog operatorLog = new OperatorLog(settings.remote());

    @BeforeEach
    void hang() {
        server.hang();
    }

    @AfterEach
    void close() {
        operatorLog.close();
        events.close();
    }

    private Node node() {
        return new Node(
                server,
                Topology.ANY,
                new ScriptExecutor(settings, new OnlyServer()),
                settings,
                operatorLog,
                new EvictionCheck(server));
    }

    private static Batch batch() {
        Batch batch = new Batch(0, 0);
        batch.add(
                Scene.WIDE.charge("k"),
                Scene.WIDE.limits().stream().map(RedisLimits::of).toList(),
                "name");
        return batch;
    }

    private static void sendInVain(Node node, Operation operation) {
        Request sent = node.send(batch(), operation, 0, new ArrayList<>(1));
        assertThatExceptionOfType(StoreFailure.class).isThrownBy(() -> Inside.await(sent, 0));
    }

    private List<Boolean> sentAfterLateNoScript(Operation operation) {
        sendInVain(node(), operation);

        server.loseScripts();
        server.goOn();

        return server.whole();
    }

    @Test
    void run_serverLostTheScriptAndNobodyWaits_doesNotSendAChargeAgain() {
        assertThat(sentAfterLateNoScript(Operation.CHARGE)).containsExactly(false);
    }

    @Test
    void run_serverLostTheScriptAndNobodyWaits_sendsARefundAgain() {
        assertThat(sentAfterLateNoScript(Operation.REFUND)).containsExactly(false, true);
    }

    @Test
    void exit_severalRequestsAfterASecondOfSilence_replaceTheConnectionOnce() {
        Node node = node();
        time.advance(Duration.ofSeconds(2));

        for (int i = 0; i < 5; i++) {
            sendInVain(node, Operation.PEEK);
        }

        // the first one, and its replacement
        assertThat(server.connected()).isEqualTo(2);
    }
}

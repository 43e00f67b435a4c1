package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** When a connection is replaced. */
class LinkTest {

    private static final class Live implements Connection {

        private final String name;
        private final List<Runnable> whenClosed = new ArrayList<>();
        private boolean open = true;

        Live(String name) {
            this.name = name;
        }

        /** As by a server that closes what is idle. */
        void lose() {
            open = false;
            whenClosed.forEach(Runnable::run);
        }

        @Override
        public String server() {
            return name;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void whenClosed(Runnable action) {
            whenClosed.add(action);
        }

        @Override
        public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<String> clusterNodes() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<String> memory() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> close() {
            return CompletableFuture.completedFuture(null);
        }
    }

    private static final class Server extends OneServer {

        private Supplier<Connection> next = () -> new Live("first");

        @Override
        public String title(String server) {
            return "";
        }

        @Override
        public Connection connect(String server) {
            return next.get();
        }
    }

    private final Server server = new Server();

    /** Attempts that a test runs. */
    private final Queue<Runnable> attempts = new ArrayDeque<>();

    private final FakeTicker time = new FakeTicker();
    private final Link link = new Link(server, Topology.ANY, live -> {}, time, attempts::add);

    @BeforeEach
    void connect() {
        CompletableFuture<Connection> first = link.live();
        attempts.remove().run();
        assertThat(first.join().server()).isEqualTo("first");
    }

    private void lose() {
        ((Live) link.live().join()).lose();
    }

    private String current() {
        return link.live().join().server();
    }

    private void attemptFails() {
        server.next = () -> {
            throw new RedisException("connection initialization timed out");
        };
        attempts.remove().run();
    }

    private void attemptSucceeds(String name) {
        server.next = () -> new Live(name);
        attempts.remove().run();
    }

    @Test
    void replace_attemptUnderWay_makesNoOther() {
        link.replace();
        link.replace();

        assertThat(attempts).hasSize(1);
        attemptSucceeds("second");
        assertThat(current()).isEqualTo("second");
        assertThat(attempts).isEmpty();
    }

    @Test
    @DisplayName("an attempt that leads to a dead server is followed by one to the server that has taken over")
    void replace_attemptUnderWayFails_makesOneMore() {
        link.replace();
        link.replace();

        attemptFails();
        attemptSucceeds("second");

        assertThat(current()).isEqualTo("second");
        assertThat(attempts).isEmpty();
    }

    @Test
    void replace_attemptFails_waitsForTheNextDoubt() {
        link.replace();
        link.replace();

        attemptFails();
        attemptFails();

        assertThat(attempts).isEmpty();
        assertThat(current()).isEqualTo("first");
        link.replace();
        attemptSucceeds("second");
        assertThat(current()).isEqualTo("second");
    }

    @Test
    void lost_isReopenedBeforeARequestNeedsIt() {
        lose();

        time.advance(Duration.ofMillis(999));
        assertThat(attempts).isEmpty();
        time.advance(Duration.ofMillis(1));
        attemptSucceeds("second");

        assertThat(current()).isEqualTo("second");
        assertThat(attempts).isEmpty();
    }

    @Test
    void lost_whereNobodyAnswers_isTriedOnce() {
        lose();
        time.advance(Duration.ofSeconds(1));

        attemptFails();
        time.advance(Duration.ofMinutes(1));

        assertThat(attempts).isEmpty();
    }

    @Test
    void lost_isReopenedByARequestThatComesFirst_andNotTwice() {
        lose();
        CompletableFuture<?> unused = link.live();
        attemptSucceeds("second");

        time.advance(Duration.ofSeconds(1));

        assertThat(attempts).isEmpty();
        assertThat(current()).isEqualTo("second");
    }

    @Test
    void lost_afterTheEnd_isNotReopened() {
        Live first = (Live) link.live().join();
        link.close();

        first.lose();

        assertThat(time.alarms()).isZero();
        assertThat(attempts).isEmpty();
    }

    @Test
    void replace_closed_makesNoAttempt() {
        link.replace();
        link.replace();
        link.close();

        attemptFails();

        assertThat(attempts).isEmpty();
    }
}

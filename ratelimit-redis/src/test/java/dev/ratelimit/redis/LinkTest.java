package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
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

    private record Live(String name) implements Connection {

        @Override
        public String server() {
            return name;
        }

        @Override
        public boolean isOpen() {
            return true;
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

    private final Link link = new Link(server, Topology.ANY, live -> {}, new FakeTicker(), attempts::add);

    @BeforeEach
    void connect() {
        CompletableFuture<Connection> first = link.live();
        attempts.remove().run();
        assertThat(first.join().server()).isEqualTo("first");
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
    void replace_closed_makesNoAttempt() {
        link.replace();
        link.replace();
        link.close();

        attemptFails();

        assertThat(attempts).isEmpty();
    }
}

package dev.ratelimit.redis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("servers")
class TcpProxyTest {

    private static final String PONG = "+PONG\r\n";

    @Started
    private static RedisServer server;

    private TcpProxy proxy;

    @BeforeEach
    void open() {
        proxy = TcpProxy.to(server.port());
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void untouched_relaysBothWaysAndCounts() throws IOException {
        try (Socket one = connect();
                Socket two = connect()) {
            ping(one);
            ping(two);

            assertThat(read(one, PONG.length())).isEqualTo(PONG);
            assertThat(read(two, PONG.length())).isEqualTo(PONG);
            assertThat(proxy.connections()).isEqualTo(2);
        }

        await().until(() -> proxy.connections() == 0);
        assertThat(proxy.accepted()).isEqualTo(2);
    }

    @Test
    void delay_holdsBackEachReplyButNotOneAfterAnother() throws IOException {
        try (Socket client = connect()) {
            proxy.delay(Duration.ofMillis(300));

            long startNanos = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                write(client, "ECHO " + (char) ('a' + i) + "\r\n");
            }
            String replies = read(client, 20 * "$1\r\na\r\n".length());

            assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
                    .isBetween(Duration.ofMillis(300), Duration.ofSeconds(4));
            assertThat(replies.replaceAll("\\$1|\r\n", "")).isEqualTo("abcdefghijklmnopqrst");
        }
    }

    @Test
    void delay_shortened_keepsTheOrder() throws IOException {
        server.ask(redis -> redis.configResetstat());
        try (Socket client = connect()) {
            proxy.delay(Duration.ofMillis(200));
            ping(client);
            await().until(() -> server.ask(redis -> redis.info("commandstats")).contains("cmdstat_ping"));
            proxy.delay(Duration.ZERO);
            write(client, "ECHO a\r\n");

            assertThat(read(client, 2 * PONG.length())).isEqualTo(PONG + "$1\r\na\r\n");
        }
    }

    @Test
    void blackHole_staysOpenAndSilentAndClosesAtItsEnd() throws IOException {
        try (Socket before = connect()) {
            ping(before);
            assertThat(read(before, PONG.length())).isEqualTo(PONG);
            proxy.blackHole(true);

            try (Socket after = connect()) {
                ping(before);
                ping(after);

                assertSilent(before);
                assertSilent(after);
                assertThat(proxy.connections()).isEqualTo(2);

                proxy.blackHole(false);
                assertThat(before.getInputStream().read()).isEqualTo(-1);
                assertThat(after.getInputStream().read()).isEqualTo(-1);
            }
        }
        assertServes();
    }

    @Test
    void cutAfter_endsAReplyInTheMiddleOnce() throws IOException {
        try (Socket client = connect()) {
            proxy.cutAfter(PONG.length() + 3);
            ping(client);
            ping(client);

            assertThat(read(client, 100)).isEqualTo(PONG + "+PO");
        }
        assertServes();
    }

    @Test
    void throttle_deliversNoFaster() throws IOException {
        server.ask(redis -> redis.set("long", "x".repeat(1_000)));
        try (Socket client = connect()) {
            proxy.throttle(4_000);

            long startNanos = System.nanoTime();
            write(client, "GET long\r\n");
            String reply = read(client, "$1000\r\n\r\n".length() + 1_000);

            assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isGreaterThan(Duration.ofMillis(250));
            assertThat(reply).startsWith("$1000\r\nx").endsWith("x\r\n");
        }
    }

    @Test
    void refuse_closesNewConnectionsOnly() throws IOException {
        try (Socket before = connect()) {
            ping(before);
            assertThat(read(before, PONG.length())).isEqualTo(PONG);
            proxy.refuse(true);

            try (Socket after = connect()) {
                assertThat(after.getInputStream().read()).isEqualTo(-1);
            }
            ping(before);
            assertThat(read(before, PONG.length())).isEqualTo(PONG);
            assertThat(proxy.connections()).isEqualTo(1);
            assertThat(proxy.accepted()).isEqualTo(2);
        }
    }

    @Test
    void disconnectAll_closesTheOpenOnesOnly() throws IOException {
        try (Socket client = connect()) {
            await().until(() -> proxy.connections() == 1);

            proxy.disconnectAll();

            assertThat(client.getInputStream().read()).isEqualTo(-1);
            assertThat(proxy.connections()).isZero();
        }
        assertServes();
    }

    @Test
    void noServer_closesTheConnection() throws IOException {
        try (TcpProxy toNobody = TcpProxy.to(RedisServer.freePort());
                Socket client = new Socket(InetAddress.getLoopbackAddress(), toNobody.port())) {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    private void assertServes() throws IOException {
        try (Socket client = connect()) {
            ping(client);
            assertThat(read(client, PONG.length())).isEqualTo(PONG);
        }
    }

    private static void assertSilent(Socket socket) throws IOException {
        socket.setSoTimeout(100);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(10_000);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static void ping(Socket socket) throws IOException {
        write(socket, "PING\r\n");
    }

    private static void write(Socket socket, String command) throws IOException {
        socket.getOutputStream().write(command.getBytes(US_ASCII));
    }

    /** This many bytes, or fewer if the connection is closed earlier. */
    private static String read(Socket socket, int length) throws IOException {
        InputStream in = socket.getInputStream();
        return new String(in.readNBytes(length), US_ASCII);
    }
}

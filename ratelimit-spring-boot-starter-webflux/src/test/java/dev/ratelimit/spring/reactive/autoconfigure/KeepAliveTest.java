package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Reactor Netty up to 1.3.6 hangs a connection when an answer from another thread is followed by one that is given at
 * once. Refusals must not be such answers.
 */
@Tag("servers")
@Tag("slow")
class KeepAliveTest {

    private static final int PATIENCE_MILLIS = 20_000;
    private static final int REQUESTS = Integer.getInteger("keep-alive.requests", 6_000);

    private final RunningApp app = RunningApp.start(
            List.of(TestApi.class),
            "ratelimit.policies.orders.limit=1/day",
            "ratelimit.policies.orders.key=ip",
            "ratelimit.policies.orders.match.paths=/orders/**,/nowhere/**");

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void refusals_betweenAnswersFromOtherThreads_arriveOnOneConnection() throws IOException {
        app.get("/orders/1");

        int answers = 0;
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), app.client().port())) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            for (int i = 0; i < REQUESTS / 2; i++) {
                assertThat(ask(socket, in, "/deferred")).isEqualTo(200);
                assertThat(ask(socket, in, i % 2 == 0 ? "/orders/1" : "/nowhere/" + i))
                        .isEqualTo(429);
                answers += 2;
            }
        }

        assertThat(answers).isEqualTo(REQUESTS);
    }

    private static int ask(Socket socket, BufferedReader in, String path) throws IOException {
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
        int status = Integer.parseInt(in.readLine().split(" ", -1)[1]);
        int length = 0;
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
                length = Integer.parseInt(line.substring(15).strip());
            }
        }
        for (int read = 0; read < length; read++) {
            in.read();
        }
        return status;
    }
}

package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.support.WebSocketHandlerAdapter;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import reactor.core.publisher.Mono;

/** Requests that wait for their permits keep their place in the chain. */
@Tag("servers")
class WaitTest {

    /** Greets whoever opens a WebSocket. */
    @Configuration(proxyBeanMethods = false)
    static class Greeting {

        @Bean
        SimpleUrlHandlerMapping sockets() {
            WebSocketHandler greeting = session -> session.send(Mono.fromSupplier(() -> session.textMessage("hello")));
            return new SimpleUrlHandlerMapping(Map.of("/socket", greeting), -1);
        }

        /** With other servers on the class path, WebFlux would prepare for one of those. */
        @Bean
        WebSocketService service() {
            return new HandshakeWebSocketService(new ReactorNettyRequestUpgradeStrategy());
        }

        @Bean
        WebSocketHandlerAdapter socketAdapter(WebSocketService service) {
            return new WebSocketHandlerAdapter(service);
        }
    }

    /** Handlers that block their thread until both are there. */
    @RestController
    static class Meeting {

        private final CountDownLatch expected = new CountDownLatch(2);
        private final Queue<Boolean> met = new ConcurrentLinkedQueue<>();

        @GetMapping("/meeting")
        String meet() throws InterruptedException {
            expected.countDown();
            met.add(expected.await(10, TimeUnit.SECONDS));
            return "met";
        }
    }

    private static final String[] PROPERTIES = {
        "ratelimit.policies.queue.limit=1/minute",
        "ratelimit.policies.queue.key=ip",
        "ratelimit.policies.queue.on-exceeded.action=wait",
        "ratelimit.policies.queue.on-exceeded.max-wait=2m"
    };

    private final RunningApp app = RunningApp.start(List.of(TestApi.class, Greeting.class), PROPERTIES);

    @AfterEach
    void stop() {
        app.close();
    }

    private void awaitWaiting(int requests) {
        awaitWaiting(app, requests);
    }

    private static void awaitWaiting(RunningApp app, int requests) {
        await().until(() -> app.bean(WaitingRequests.class).waiting("queue") == requests);
    }

    @ParameterizedTest
    @EnumSource(value = Server.class, names = "NETTY", mode = EnumSource.Mode.EXCLUDE)
    void handlers_thatBlockAfterTheirWait_doNotWaitForOneAnother(Server server) throws Exception {
        try (RunningApp blocking = RunningApp.start(server, List.of(TestApi.class, Meeting.class), PROPERTIES)) {
            blocking.get("/any");
            try (Socket one = blocking.client().begin("GET /meeting HTTP/1.1");
                    Socket other = blocking.client().begin("GET /meeting HTTP/1.1")) {
                awaitWaiting(blocking, 2);

                blocking.ticker().advance(Duration.ofMinutes(2));

                blocking.awaitAnswer(one);
                blocking.awaitAnswer(other);
                assertThat(blocking.bean(Meeting.class).met).containsExactly(true, true);
            }
        }
    }

    @Test
    void request_whoseClientLeaves_getsNoPermits() throws Exception {
        app.get("/any");
        try (Socket client = app.client().begin("GET /any HTTP/1.1")) {
            awaitWaiting(1);
            client.setSoLinger(true, 0);
        }
        awaitWaiting(0);
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(app.bean(TestApi.class).reached()).isEqualTo(1);
        assertThat(app.get("/any").status()).isEqualTo(200);
    }

    @Test
    void handshakeOfAWebSocket_waits_andOpensIt() throws Exception {
        app.get("/any");
        CompletableFuture<String> said = new CompletableFuture<>();
        WebSocket.Listener listener = new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
                said.complete(text.toString());
                return WebSocket.Listener.super.onText(socket, text, last);
            }
        };
        CompletableFuture<WebSocket> opening = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + app.client().port() + "/socket"), listener);
        awaitWaiting(1);
        assertThat(opening).isNotDone();

        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(opening.get(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(said.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
    }
}

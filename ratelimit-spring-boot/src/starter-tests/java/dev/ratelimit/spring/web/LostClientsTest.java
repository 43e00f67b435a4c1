package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Stack;
import dev.ratelimit.spring.TestApi;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Permits come back when clients leave before their answer ends. In applications of their own: on Tomcat, WebFlux may cancel
 * requests that come later, with limits or without.
 */
@ParameterizedClass
@MethodSource("servers")
@Tag("slow")
class LostClientsTest {

    private static final int CLIENTS = 50;
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(2));

    private final RunningApp app;

    LostClientsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Endings.class, TestApi.class, Staying.class),
                "ratelimit.policies.counting.limit=2/hour",
                "ratelimit.policies.counting.count=401",
                "ratelimit.policies.counting.key=header:X-Counting",
                "ratelimit.policies.counting.missing-key=skip",
                "ratelimit.policies.slots.concurrency=2",
                "ratelimit.policies.slots.key=header:X-Slots",
                "ratelimit.policies.slots.missing-key=skip");
    }

    static List<String> paths() {
        return Staying.LOST;
    }

    @Test
    void clientGone_whileEventsAreSent_returnsThePermit() throws IOException {
        permitsComeBack("/endless", 20);
    }

    @ParameterizedTest
    @MethodSource("paths")
    void clientGone_andTheServerNeverReportsIt_returnsThePermit(String path) throws IOException {
        permitsComeBack(path, 5);
    }

    @Test
    void clientGone_whileEventsAreSent_getsBackWhatIsFreeForTheStatusSent() throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            leave("/endless", "X-Counting: events" + i);
        }

        // on Tomcat, WebFlux cancels some of these requests when the client before has left, so that they are charged
        boolean some = Stack.current() != Stack.SERVLET && app.toString().startsWith("Tomcat");
        await().untilAsserted(() -> assertThat(IntStream.range(0, CLIENTS)
                        .filter(i -> EndingsTest.remaining(app, "counting", "events" + i) == 2))
                .hasSizeGreaterThanOrEqualTo(some ? CLIENTS / 2 : CLIENTS));
    }

    private void permitsComeBack(String path, int clients) throws IOException {
        for (int i = 0; i < clients; i++) {
            leave(path, "X-Slots: " + path + i);
        }
        for (int i = 0; i < clients; i++) {
            String key = path + i;
            // the server reports the end of an aborted response as soon as it has a thread for that
            await().atMost(Duration.ofMinutes(1)).until(() -> HeldPermitsTest.held(app, SLOTS, key) == 0);
        }
    }

    /** Resets the connection when the answer begins. */
    private void leave(String path, String header) throws IOException {
        try (Socket socket = app.client().begin("GET " + path + " HTTP/1.1", header)) {
            app.awaitAnswer(socket);
            socket.setSoLinger(true, 0);
        }
    }
}

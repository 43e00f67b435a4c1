package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests whose client leaves before anything is sent. In an application of their own, and all at once: on Tomcat, WebFlux
 * may cancel requests that come after a client has left, with limits or without.
 */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class AbandonedRequestsTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(3));

    private final RunningApp app;

    AbandonedRequestsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Endings.class, TestApi.class),
                "ratelimit.policies.counting.limit=2/hour",
                "ratelimit.policies.counting.count=401, 5xx",
                "ratelimit.policies.counting.key=header:X-Counting",
                "ratelimit.policies.counting.missing-key=skip",
                "ratelimit.policies.freeing.limit=2/hour",
                "ratelimit.policies.freeing.free=2xx",
                "ratelimit.policies.freeing.key=header:X-Freeing",
                "ratelimit.policies.freeing.missing-key=skip",
                "ratelimit.policies.slots.concurrency=3",
                "ratelimit.policies.slots.key=header:X-Slots");
    }

    @Test
    @DisplayName("C14 a failure counts even if the client has disconnected")
    void clientsGone_beforeAnythingIsSent_areCharged() throws IOException {
        Endings endings = app.bean(Endings.class);
        try (Socket failing = begin("/abandoned", "X-Counting: failing", "X-Freeing: failing");
                Socket unauthorized = begin("/abandoned-unauthorized", "X-Counting: unauthorized")) {
            await().until(() -> endings.reached.get() == 2);
            assertThat(HeldPermitsTest.held(app, SLOTS, "all")).isEqualTo(2);
            failing.setSoLinger(true, 0); // closing resets the connection
            unauthorized.setSoLinger(true, 0);
        }
        endings.clientGone();

        // the last that a request does
        await().atMost(Duration.ofMinutes(1)).until(() -> HeldPermitsTest.held(app, SLOTS, "all") == 0);
        assertThat(EndingsTest.remaining(app, "counting", "failing")).isEqualTo(1);
        assertThat(EndingsTest.remaining(app, "freeing", "failing")).isEqualTo(1);
        assertThat(EndingsTest.remaining(app, "counting", "unauthorized")).isEqualTo(1);
    }

    private Socket begin(String path, String... headers) throws IOException {
        String[] all =
                Stream.concat(Stream.of(headers), Stream.of("X-Slots: all")).toArray(String[]::new);
        return app.client().begin("GET " + path + " HTTP/1.1", all);
    }
}

package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.boot.actuate.ActuatorClient;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Each request is recorded once, however often it is dispatched and whatever the server reports of its end. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class RecordedEndingsTest {

    /** Ends asynchronous requests by means of the server. */
    @RestController
    static class Started {

        @GetMapping("/started-and-thrown")
        void startedAndThrown(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync();
            throw new IllegalStateException("broken");
        }

        @GetMapping("/completed-and-thrown")
        void completedAndThrown(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync().complete();
            throw new IllegalStateException("broken");
        }

        @GetMapping("/timed-out")
        void timedOut(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync().setTimeout(100);
        }

        @GetMapping("/dispatched")
        void dispatched(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync().dispatch("/later?status=200");
        }

        @GetMapping("/events-timed-out")
        SseEmitter eventsTimedOut() {
            return new SseEmitter(100L);
        }

        @GetMapping("/events-failed")
        SseEmitter eventsFailed() throws IOException {
            SseEmitter emitter = new SseEmitter();
            emitter.send("one");
            emitter.completeWithError(new IllegalStateException("broken"));
            return emitter;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Throwing {

        /** Fails when the handler has started to answer later. */
        @Bean
        FilterRegistrationBean<Filter> throwing() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                chain.doFilter(request, response);
                if (((HttpServletRequest) request).getHeader("X-Throw") != null) {
                    throw new IllegalStateException("broken");
                }
            });
            filter.setOrder(-200);
            filter.setDispatcherTypes(DispatcherType.REQUEST);
            return filter;
        }
    }

    /** Each request, and the status of its answer. */
    private static final Map<String, Integer> ENDINGS = Map.ofEntries(
            Map.entry("/later?status=200", 200),
            Map.entry("/later-and-later?status=401", 401),
            Map.entry("/sent-later?status=404", 404),
            Map.entry("/thrown-later", 500),
            Map.entry("/never", 503),
            Map.entry("/forward", 200),
            Map.entry("/started-and-thrown", 500),
            Map.entry("/completed-and-thrown", 500),
            Map.entry("/timed-out", 500),
            Map.entry("/dispatched", 200),
            Map.entry("/events-timed-out", 503),
            Map.entry("/events-failed", 200));

    private final RunningApp app;

    RecordedEndingsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Endings.class, Endings.Pages.class, Started.class, Throwing.class, TestApi.class),
                "ratelimit.recording.enabled=true",
                "management.endpoints.web.exposure.include=ratelimits",
                "ratelimit.policies.queue.limit=1/minute",
                "ratelimit.policies.queue.key=header:X-Queue",
                "ratelimit.policies.queue.missing-key=skip",
                "ratelimit.policies.queue.on-exceeded.action=wait",
                "ratelimit.policies.queue.on-exceeded.max-wait=2m");
    }

    private Map<String, List<Integer>> recorded() {
        Map<String, List<Integer>> statuses = new TreeMap<>();
        new ActuatorClient(app).get("/recording").body().lines().skip(1).forEach(line -> {
            JsonNode one = JsonMapper.shared().readTree(line);
            statuses.computeIfAbsent(one.get("path").asString(), path -> new ArrayList<>())
                    .add(one.get("status").asInt());
        });
        return statuses;
    }

    @Test
    void request_endsInAnyWay_isRecordedOnce() {
        Map<String, List<Integer>> expected = new TreeMap<>();
        ENDINGS.forEach((path, status) -> {
            assertThat(app.get(path).status()).as(path).isEqualTo(status);
            expected.put(path.replaceAll("\\?.*", ""), List.of(status));
        });
        assertThat(app.get("/deferred-timeout", "X-Throw: yes").status()).isEqualTo(500);
        expected.put("/deferred-timeout", List.of(500));
        app.get("/orders/1", "X-Queue: a");
        expected.put("/orders/{id}", List.of(200));
        assertThat(waited("/callable", "X-Queue: a")).isEqualTo(200);
        expected.put("/callable", List.of(200));

        await().untilAsserted(() -> assertThat(recorded()).isEqualTo(expected));
    }

    /** The status of the answer to a request that has waited for its permits. */
    private int waited(String path, String header) {
        WaitingRequests waiting = app.bean(WaitingRequests.class);
        CompletableFuture<Integer> answer =
                CompletableFuture.supplyAsync(() -> app.get(path, header).status());
        await().until(() -> waiting.waiting("queue") == 1);
        app.ticker().advance(Duration.ofMinutes(1));
        return answer.join();
    }
}

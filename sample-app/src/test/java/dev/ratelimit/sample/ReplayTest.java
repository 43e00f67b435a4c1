package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.simulator.command.Main;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the sample application has decided about recorded requests is what the simulator decides about them. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("replay")
@Import(ReplayTest.Application.class)
@WithFakeTicker
@Tag("slow")
class ReplayTest {

    private static final int REQUESTS = 1_500;

    @TempDir
    Path directory;

    /** What the sample does not have: users, plans, and requests that take as long as they are told. */
    @TestConfiguration(proxyBeanMethods = false)
    @Import(Work.class)
    static class Application {

        @Bean
        PlanResolver plansOfHeader() {
            return request -> request.header("X-Plan");
        }

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE + 1)
        Filter users() {
            return (request, response, chain) -> {
                HttpServletRequest asked = (HttpServletRequest) request;
                String user = asked.getHeader("X-User");
                chain.doFilter(
                        user == null
                                ? request
                                : new HttpServletRequestWrapper(asked) {
                                    @Override
                                    public Principal getUserPrincipal() {
                                        return () -> user;
                                    }
                                },
                        response);
            };
        }

        @Bean
        Decisions decisions() {
            return new Decisions();
        }

        @Bean
        StoreDecorator observedStore(Decisions decisions) {
            return store -> new ObservedStore(store, decisions);
        }
    }

    /** The decisions about requests, of which there is one at a time; the last one counts. */
    static final class Decisions {

        private final AtomicReference<List<LimitStatus>> last = new AtomicReference<>(List.of());

        /** Of the request that was sent last; empty if no limit applies to it. */
        List<LimitStatus> take() {
            return last.getAndSet(List.of());
        }
    }

    static final class ObservedStore extends ForwardingStore {

        private final Decisions decisions;

        ObservedStore(RateLimitStore store, Decisions decisions) {
            super(store);
            this.decisions = decisions;
        }

        @Override
        public Decision decide(List<Charge> charges) {
            Decision decision = super.decide(charges);
            decisions.last.set(decision.limits());
            return decision;
        }
    }

    @RestController
    static class Work {

        private final BlockingQueue<DeferredResult<String>> begun = new LinkedBlockingQueue<>();

        @PostMapping({"/tasks/single", "/tasks/tenant"})
        DeferredResult<String> work() {
            DeferredResult<String> result = new DeferredResult<>();
            begun.add(result);
            return result;
        }
    }

    /** What was recorded from some time on. */
    private record Recorded(Path file, long startNanos) {}

    /** Work that is under way. */
    private record Running(
            long endNanos, DeferredResult<String> result, CompletableFuture<HttpResponse<String>> answer) {}

    @Autowired
    private FakeTicker ticker;

    @Autowired
    private Decisions decisions;

    @Autowired
    private Work work;

    @Autowired
    private RateLimitPolicies limits;

    @Autowired
    private RequestRules rules;

    @Autowired
    private List<OutcomeCounter> counters;

    @LocalServerPort
    private int port;

    private final HttpClient client = HttpClient.newHttpClient();
    private final PriorityQueue<Running> running = new PriorityQueue<>(Comparator.comparingLong(Running::endNanos));
    private final List<String> decided = new ArrayList<>();
    private Random random = new Random();
    private long startNanos;
    private int complete;

    @Test
    void replay_ofARecording_decidesAsTheApplicationDid() throws Exception {
        Recorded recording = run();

        assertThatReplayDecidesAlike(recording);
    }

    @Test
    void replay_ofWhatWasRecordedInShadowMode_decidesAsTheApplicationThenDoes() throws Exception {
        Set<String> policies = limits.names();
        policies.forEach(policy -> limits.change(policy, RateLimitChange.toMode(Mode.SHADOW)));
        Recorded recording = run();
        assertThat(refused()).isZero();
        policies.forEach(limits::restore);

        run();

        assertThatReplayDecidesAlike(recording);
    }

    private long refused() {
        return decided.stream()
                .filter(line -> line.contains("\"allowed\":false"))
                .count();
    }

    /** Sends the same requests each time, with full budgets at first, and keeps what is decided; returns the recording. */
    private Recorded run() throws Exception {
        long hour = Duration.ofHours(1).toNanos();
        ticker.advance(Duration.ofNanos(2 * hour - ticker.epochNanos() % hour));
        startNanos = ticker.epochNanos();
        int before = recorded();
        complete = before;
        decided.clear();
        // of a request for a recording
        decisions.take();
        random = new Random(42);
        for (int i = 0; i < REQUESTS; i++) {
            pass(random.nextInt(400_000_000));
            request();
        }
        pass(Duration.ofMinutes(1).toNanos());
        await().untilAsserted(() -> assertThat(recorded()).isEqualTo(before + REQUESTS));
        List<String> lines = new ArrayList<>(recording().lines().toList());
        lines.subList(1, before + 1).clear();
        // the beginning says how many there are
        lines.set(0, lines.get(0).replaceFirst("\"requests\":\\d+", "\"requests\":" + REQUESTS));
        return new Recorded(Files.write(directory.resolve(startNanos + ".ndjson"), lines), startNanos);
    }

    private void assertThatReplayDecidesAlike(Recorded recording) throws IOException {
        List<String> replayed = replay(recording);
        assertThat(replayed).hasSameSizeAs(decided);
        for (int i = 0; i < REQUESTS; i++) {
            assertThat(replayed.get(i)).as("request %d", i).isEqualTo(decided.get(i));
        }
        assertThat(refused()).isBetween(REQUESTS / 10L, REQUESTS * 9L / 10);
    }

    /** Lets time pass, in which work ends. */
    private void pass(long nanos) throws Exception {
        long until = ticker.epochNanos() + nanos;
        while (!running.isEmpty() && running.element().endNanos <= until) {
            Running ends = running.remove();
            ticker.advance(Duration.ofNanos(ends.endNanos - ticker.epochNanos()));
            ends.result.setResult("done");
            ends.answer.get(10, TimeUnit.SECONDS);
            complete++;
            // the client has its answer before its permits are back
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .untilAsserted(() -> assertThat(recorded()).isEqualTo(complete));
        }
        ticker.advance(Duration.ofNanos(until - ticker.epochNanos()));
    }

    private void request() throws Exception {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("X-Forwarded-For", "203.0.113." + random.nextInt(5));
        String user = any("", "", "ann", "bob", "carl", "mallory", "root");
        if (!user.isEmpty()) {
            headers.put("X-User", user);
            headers.put("X-Plan", any("gold", "free", "none"));
        }
        if (random.nextInt(3) == 0) {
            headers.put("X-Api-Key", any("one", "two"));
        }
        switch (random.nextInt(8)) {
            case 0, 1 -> send("GET", "/api/products/" + random.nextInt(6), headers);
            case 2 -> send("GET", "/api/products", headers);
            case 3 -> send("POST", "/api/login?user=alice&password=" + any("guess", "guess", "wonderland"), headers);
            case 4 -> send("GET", "/api/reports/" + random.nextInt(9), headers);
            case 5 -> send("GET", any("/api/stock/1", "/api/stock/2", "/nowhere", "/"), headers);
            case 6 -> {
                headers.put("X-Rows", any("0", "1", "7", "30"));
                send("POST", "/api/products", headers);
            }
            default -> {
                if (random.nextBoolean()) {
                    headers.put("X-Tenant", any("a", "b"));
                }
                begin(any("/tasks/single", "/tasks/tenant"), headers);
            }
        }
    }

    private String any(String... values) {
        return values[random.nextInt(values.length)];
    }

    private HttpRequest asked(String method, String path, Map<String, String> headers) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody());
        headers.forEach(builder::header);
        return builder.build();
    }

    private void send(String method, String path, Map<String, String> headers) throws Exception {
        long at = ticker.epochNanos();
        HttpResponse<String> response = client.send(asked(method, path, headers), HttpResponse.BodyHandlers.ofString());
        sent(at, response.statusCode());
    }

    private void sent(long at, int status) {
        decided.add(line(at, status == 429 || status == 400, decisions.take()));
        complete++;
    }

    /** Begins work that goes on for some time, unless it is refused. */
    private void begin(String path, Map<String, String> headers) throws Exception {
        // also if it is refused, so that the requests are the same each time
        long tookNanos = 1_000_000L + random.nextInt(2_000_000_000);
        long at = ticker.epochNanos();
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(asked("POST", path, headers), HttpResponse.BodyHandlers.ofString());
        DeferredResult<String> result = null;
        while (result == null && !answer.isDone()) {
            result = work.begun.poll(1, TimeUnit.MILLISECONDS);
        }
        List<LimitStatus> limits = decisions.take();
        if (result == null) {
            decided.add(line(at, true, limits));
            complete++;
        } else {
            decided.add(line(at, false, limits));
            running.add(new Running(at + tookNanos, result, answer));
        }
    }

    /** As the simulator writes a decision, without the key. */
    private String line(long at, boolean refused, List<LimitStatus> limits) {
        Comparator<LimitStatus> order =
                Comparator.comparingLong(limit -> refused ? -limit.retryAfterNanos() : limit.remaining());
        LimitStatus told = limits.stream()
                .min(order.thenComparing(limit -> limit.policy().name()))
                .orElse(null);
        String start = "{\"t\":" + (at - startNanos) / 1_000_000;
        if (told == null || (refused && told.admitted())) {
            return start + ",\"allowed\":" + !refused + "}";
        }
        boolean never = told.retryAfterNanos() == LimitAlgorithm.NEVER;
        return start + ",\"allowed\":" + !refused
                + ",\"policy\":\"" + told.policy().name() + "\",\"remaining\":" + told.remaining()
                + ",\"retryAfterMillis\":" + (never ? "null" : String.valueOf(millis(told.retryAfterNanos())))
                + ",\"fullAfterMillis\":" + millis(told.fullAfterNanos()) + "}";
    }

    private static long millis(long nanos) {
        return (nanos + 999_999) / 1_000_000;
    }

    private String recording() throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(
                asked("GET", "/actuator/ratelimits/recording", Map.of()), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(200);
        return response.body();
    }

    private int recorded() {
        RequestRecording recording = Objects.requireNonNull(RequestRecording.among(counters.stream()));
        return (int) recording
                        .lines(rules.inForce(), rules.haveStages(), key -> key)
                        .count()
                - 1;
    }

    private static List<String> replay(Recorded recording) throws IOException {
        Path decided = recording.file.resolveSibling("decisions.ndjson");
        StringWriter messages = new StringWriter();
        int code = Main.run(
                new PrintWriter(messages),
                new PrintWriter(messages),
                "replay",
                "--config",
                "src/main/resources/application.yml,src/test/resources/application-replay.yml",
                "--input",
                recording.file.toString(),
                "--strict",
                "--decisions",
                decided.toString());
        assertThat(code).as(messages.toString()).isZero();
        assertThat(messages.toString()).doesNotContain("left out", "another key");
        return Files.readAllLines(decided, StandardCharsets.UTF_8).stream()
                .map(line -> withoutKey(line, recording.startNanos / 1_000_000))
                .toList();
    }

    private static String withoutKey(String line, long startMillis) {
        JsonNode json = JsonMapper.shared().readTree(line);
        String start = "{\"t\":" + (json.get("t").asLong() - startMillis) + ",\"allowed\":" + json.get("allowed");
        return json.get("remaining").isNull()
                ? start + "}"
                : start + ",\"policy\":" + json.get("policy") + ",\"remaining\":" + json.get("remaining")
                        + ",\"retryAfterMillis\":" + json.get("retryAfterMillis")
                        + ",\"fullAfterMillis\":" + json.get("fullAfterMillis") + "}";
    }
}

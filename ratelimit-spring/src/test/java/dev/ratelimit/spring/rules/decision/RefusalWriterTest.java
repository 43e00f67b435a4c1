package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** What refused callers get, again and again: texts are kept for other refusals, and must never be another's. */
class RefusalWriterTest {

    private static final int REFUSALS = 200;

    private static final AtomicInteger OTHERS = new AtomicInteger();

    private final FakeTicker ticker = new FakeTicker();
    private final Map<String, String> written = new TreeMap<>(Map.of(
            "ratelimit.policies.by-user.limit", "1/hour",
            "ratelimit.policies.by-user.key", "user",
            "ratelimit.policies.by-user.plans.pro", "2/hour"));

    private RequestLimiter limits(@Nullable RejectionHandler handler) {
        RateLimitProperties properties = new Binder(new MapConfigurationPropertySource(written))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("plans", (PlanResolver) request -> request.header("X-Plan"));
        RequestRules rules = new RequestRules(properties, beans, text -> text, limit -> {});
        rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        return new RequestLimiter(
                rules,
                properties,
                new WaitingRequests(rules, store, ticker, ticker),
                (policy, key, outcome, request) -> {},
                ticker,
                handler);
    }

    private static RecordedRequest by(String user, String plan) {
        // each differs from all others, so that what gets from one into the answer to another is seen
        return new RecordedRequest("GET", "/" + OTHERS.incrementAndGet())
                .by(user)
                .with("X-Plan", plan);
    }

    /** Asks until a request is refused. */
    private static RecordedResponse refusal(RequestLimiter limits, String user, String plan) {
        ChargedRequest charged = limits.charge(null, by(user, plan));
        while (!charged.isRefused()) {
            charged = limits.charge(null, by(user, plan));
        }
        RecordedResponse response = new RecordedResponse();
        try {
            charged.writeRefusal(response);
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return response;
    }

    private static String problem(String limit, @Nullable String seconds) {
        return "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                + "\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"Limit 'by-user' of " + limit
                + " is exceeded. Retry after " + seconds
                + " seconds.\",\"violated-policies\":[\"by-user\"],\"retry-after\":" + seconds + "}";
    }

    @Test
    void refusals_haveTheirOwnJitter() {
        RequestLimiter limits = limits(null);
        refusal(limits, "alice", "free");
        ticker.advance(Duration.ofMillis(500));

        TreeSet<String> waits = new TreeSet<>();
        for (int i = 0; i < REFUSALS; i++) {
            RecordedResponse response = refusal(limits, "alice", "free");
            String wait = response.header("Retry-After");
            assertThat(response.body()).isEqualTo(problem("1 per hour", wait));
            assertThat(response.header("Content-Type")).isEqualTo("application/problem+json");
            waits.add(String.valueOf(wait));
        }

        assertThat(waits).containsExactly("3600", "3601");
    }

    /** As in seconds: whoever comes back then is not refused again. */
    @Test
    void millis_areRoundedUp() {
        written.put("ratelimit.retry-after-millis-header", "X-Wait");
        written.put("ratelimit.policies.by-user.retry-jitter.max", "0s");
        RequestLimiter limits = limits(null);
        refusal(limits, "alice", "free");

        ticker.advance(Duration.ofNanos(1));

        assertThat(refusal(limits, "alice", "free").header("X-Wait")).isEqualTo("3600000");
    }

    @Test
    void refusals_ofAnotherPlan_nameItsLimit() {
        written.put("ratelimit.policies.by-user.retry-jitter.max", "0s");
        RequestLimiter limits = limits(null);

        for (int i = 0; i < 3; i++) {
            assertThat(refusal(limits, "alice", "free").body()).isEqualTo(problem("1 per hour", "3600"));
            assertThat(refusal(limits, "bob", "pro").body()).isEqualTo(problem("2 per hour", "1800"));
        }
        ticker.advance(Duration.ofMinutes(30));
        assertThat(refusal(limits, "alice", "free").body()).isEqualTo(problem("1 per hour", "1800"));
        assertThat(refusal(limits, "alice", "pro").body())
                .startsWith(problem("2 per hour", "").substring(0, 160));
    }

    @Test
    void refusals_nameThePoliciesThatRefuseThisRequest() {
        written.put("ratelimit.policies.all.limit", "3/day");
        RequestLimiter limits = limits(null);

        String own = refusal(limits, "alice", "free").body();
        refusal(limits, "bob", "pro");
        String both = refusal(limits, "alice", "free").body();

        assertThat(own).contains("\"violated-policies\":[\"by-user\"]");
        assertThat(both).contains("\"violated-policies\":[\"all\",\"by-user\"]");
    }

    @Test
    void handler_getsTheExactWait() {
        List<Rejection> rejections = new ArrayList<>();
        RequestLimiter limits = limits((request, response, rejection) -> rejections.add(rejection));

        for (int i = 0; i < REFUSALS; i++) {
            RecordedResponse response = refusal(limits, "alice", "free");
            assertThat(response.body()).isEmpty();
            assertThat(response.header("Content-Length")).isNull();
        }

        assertThat(rejections.stream().map(Rejection::retryAfter).distinct().count())
                .isGreaterThan(1);
        assertThat(rejections)
                .allMatch(rejection ->
                        rejection.detail().contains("Retry after " + rejection.retryAfterSeconds() + " seconds."));
    }

    @Test
    void ownDetail_isInEachBody() {
        written.put("ratelimit.response.detail", "Slow down.");
        written.put("ratelimit.response.body", "text");
        RequestLimiter limits = limits(null);

        for (int i = 0; i < 3; i++) {
            assertThat(refusal(limits, "alice", "free").body()).isEqualTo("Slow down.\n");
        }
    }

    @Test
    void response_ofAPolicy_replacesWhatItSays_ofTheCommonOne() {
        written.put("ratelimit.response.detail", "Slow down.");
        written.put("ratelimit.response.status", "503");
        written.put("ratelimit.policies.by-user.response.status", "420");
        written.put("ratelimit.policies.by-user.response.body", "text");
        written.put("ratelimit.policies.all.limit", "3/day");
        RequestLimiter limits = limits(null);

        RecordedResponse own = refusal(limits, "alice", "free");
        refusal(limits, "bob", "pro");
        RecordedResponse both = refusal(limits, "alice", "free");

        assertThat(own.status()).isEqualTo(420);
        assertThat(own.body()).isEqualTo("Slow down.\n");
        // the longest wait is that of the other
        assertThat(both.status()).isEqualTo(503);
        assertThat(both.body()).contains("\"status\":503").contains("\"detail\":\"Slow down.\"");
    }

    @Test
    void content_isTheWholeBody_withTheWaitAndThePolicies() {
        written.put("ratelimit.policies.by-user.response.content", "{\"error\":\"{policies}\",\"wait\":{retry-after}}");
        RequestLimiter limits = limits(null);

        for (int i = 0; i < 3; i++) {
            RecordedResponse response = refusal(limits, "alice", "free");
            assertThat(response.body())
                    .isEqualTo("{\"error\":\"by-user\",\"wait\":" + response.header("Retry-After") + "}");
            assertThat(response.header("Content-Type")).isEqualTo("application/json");
        }
    }

    @Test
    void content_ofARefusalThatNoWaitHelps_hasNull() {
        written.put("ratelimit.response.content", "wait {retry-after}");
        written.put("ratelimit.policies.by-user.overrides.mallory", "blocked");

        RecordedResponse response = refusal(limits(null), "mallory", "free");

        assertThat(response.body()).isEqualTo("wait null");
        assertThat(response.header("Content-Type")).isEqualTo("text/plain;charset=UTF-8");
    }

    @ParameterizedTest
    @CsvSource({
        "text/html, text/html;charset=UTF-8",
        "text/html;charset=ISO-8859-1, text/html;charset=ISO-8859-1",
        "application/xml, application/xml"
    })
    void contentType_ofText_namesItsCharset(String type, String sent) {
        written.put("ratelimit.response.content", "<p>");
        written.put("ratelimit.response.content-type", type);

        assertThat(refusal(limits(null), "alice", "free").header("Content-Type"))
                .isEqualTo(sent);
    }

    @ParameterizedTest
    @CsvSource({"body, text", "detail, Wait.", "status, 420"})
    void commonContent_isNotThatOfAPolicyWithItsOwnBody(String property, String value) {
        written.put("ratelimit.response.content", "common");
        written.put("ratelimit.policies.by-user.response." + property, value);

        String body = refusal(limits(null), "alice", "free").body();

        assertThat(body.equals("common")).isEqualTo(property.equals("status"));
    }

    @Test
    void missingKey_isAProblem_whateverTheContent() {
        written.put("ratelimit.policies.by-id.limit", "1/hour");
        written.put("ratelimit.policies.by-id.key", "header:X-Id");
        written.put("ratelimit.policies.by-id.missing-key", "reject");
        written.put("ratelimit.policies.by-id.response.content", "own");
        written.put("ratelimit.policies.by-id.response.status", "420");

        RecordedResponse response = refusal(limits(null), "alice", "free");

        assertThat(response.status()).isEqualTo(400);
        assertThat(response.body()).contains("requires exactly one header:x-id");
    }

    @Test
    void threads_neverGetAnothersText() throws InterruptedException, ExecutionException {
        RequestLimiter limits = limits(null);
        ExecutorService threads = Executors.newFixedThreadPool(4);

        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String user = "user" + i;
            boolean pro = i % 2 == 0;
            running.add(threads.submit(() -> {
                for (int j = 0; j < 2_000; j++) {
                    RecordedResponse response = refusal(limits, user, pro ? "pro" : "free");
                    String wait = response.header("Retry-After");
                    assertThat(response.body()).isEqualTo(problem(pro ? "2 per hour" : "1 per hour", wait));
                    ticker.advance(Duration.ofMillis(100));
                }
            }));
        }
        for (Future<?> one : running) {
            one.get();
        }
        threads.shutdown();
    }
}

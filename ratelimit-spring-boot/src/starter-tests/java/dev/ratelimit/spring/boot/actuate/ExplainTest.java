package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the endpoint says would become of a request is what the filter then does with it. */
@Tag("servers")
class ExplainTest extends AppPerTest {

    @RestController
    static class Pages {

        @GetMapping("/search")
        @RateLimited(policy = "work", permits = 5)
        @RateLimited(value = "3/hour", key = "ip")
        String search() {
            return "hits";
        }

        @GetMapping("/free")
        String free() {
            return "free";
        }
    }

    private static final List<String> POLICIES = List.of(
            "management.endpoints.web.exposure.include=ratelimits",
            "management.endpoint.ratelimits.show-keys=always",
            "ratelimit.exempt.paths=/free",
            "ratelimit.exempt.keys=boss",
            "ratelimit.policies.wide.limit=1000/hour",
            "ratelimit.policies.wide.match.except-paths=/actuator/**",
            "ratelimit.policies.each.limit=20/hour; 100/day",
            "ratelimit.policies.each.key=header:X-Id, endpoint",
            "ratelimit.policies.each.match.paths=/orders/**, /any, /nowhere",
            "ratelimit.policies.work.limit=12/hour",
            "ratelimit.policies.work.match.annotated=true",
            "ratelimit.policies.tight.limit=2/hour",
            "ratelimit.policies.tight.key=query:q",
            "ratelimit.policies.tight.missing-key=skip",
            "ratelimit.policies.tight.match.paths=/any",
            "ratelimit.policies.callers.limit=9/hour",
            "ratelimit.policies.callers.key=header:X-Caller",
            "ratelimit.policies.callers.missing-key=reject",
            "ratelimit.policies.callers.match.paths=/callable",
            "ratelimit.policies.callers.overrides.evil=blocked",
            "ratelimit.policies.callers.overrides.vip=unlimited",
            "ratelimit.policies.callers.overrides.big=7/minute",
            "ratelimit.policies.sessions.limit=2/hour",
            "ratelimit.policies.sessions.key=cookie:sid, #request.cookies.size()",
            "ratelimit.policies.sessions.missing-key=skip",
            "ratelimit.policies.sessions.match.paths=/callable",
            "ratelimit.policies.hidden.limit=1/hour",
            "ratelimit.policies.hidden.mode=shadow",
            "ratelimit.policies.hidden.match.paths=/deferred",
            "ratelimit.policies.priced.limit=50/hour",
            "ratelimit.policies.priced.permits=#request.getParameter('size') == null ? 1 : 40",
            "ratelimit.policies.priced.match.paths=/stream",
            "ratelimit.policies.beta.limit=5/hour",
            "ratelimit.policies.beta.match.when=#request.getHeader('X-Beta') != null");

    @SuppressWarnings("NullAway.Init") // each test starts its own application
    private ActuatorClient actuator;

    private void start(Class<?> security, String... more) {
        start(
                List.of(TestApi.class, Pages.class, RunningApp.Alice.class, security),
                Stream.concat(POLICIES.stream(), Stream.of(more)).toArray(String[]::new));
        actuator = new ActuatorClient(
                app,
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void login_thatNoHandlerAnswers_mayNotGetToPoliciesBehindSecurity() {
        start(
                RunningApp.WithSecurity.class,
                "ratelimit.policies.logins.limit=3/hour",
                "ratelimit.policies.logins.key=#request.getParameter('username')",
                "ratelimit.policies.logins.match.paths=/login, /any");

        assertThat(explain("POST", "/login?username=bob").get("remark").asString())
                .isEqualTo(
                        "no handler answers this request; if a filter of Spring Security does, as it may with a login,"
                                + " the request does not get to the policies of stage after-security");
        assertThat(explain("GET", "/any?username=bob").has("remark")).isFalse();
    }

    private JsonNode explain(String method, String path) {
        return actuator.explain(Map.of("method", method, "path", path), "").json();
    }

    /** Asks, sends, and compares: the answer, who refused, and what was taken from which budget. */
    private void check(String request, String... headers) {
        checkAs(null, request, headers);
    }

    private void checkAs(@Nullable String user, String request, String... headers) {
        String[] parts = request.split(" ", 2);
        Map<String, String> facts = new LinkedHashMap<>(Map.of("method", parts[0], "path", parts[1]));
        if (user != null) {
            facts.put("user", user);
        }
        String lines = Stream.of(headers)
                .map(line -> "&header=" + ActuatorClient.encoded(line))
                .collect(Collectors.joining());
        JsonNode said = actuator.explain(facts, lines).json();
        Map<String, List<Long>> before = remaining(said);

        List<String> sent = new ArrayList<>(Arrays.asList(headers));
        if (user != null) {
            sent.add("Authorization: Basic "
                    + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.US_ASCII)));
        }
        RawResponse response = app.send(request + " HTTP/1.1", sent.toArray(String[]::new));

        boolean refused = response.status() == 429 || response.status() == 400;
        assertThat(said.get("admitted").asBoolean()).as("%s: %s", request, said).isEqualTo(!refused);
        if (response.status() == 429 && !response.body().isEmpty()) {
            JsonNode violated = JsonMapper.shared().readTree(response.body()).get("violated-policies");
            List<String> refusing = said.get("policies")
                    .valueStream()
                    .filter(policy -> policy.get("outcome").asString().equals("refused"))
                    .map(policy -> policy.get("policy").asString())
                    .toList();
            assertThat(violated.valueStream().map(JsonNode::asString))
                    .as(request)
                    .containsExactlyInAnyOrderElementsOf(refusing);
        }
        said.get("policies")
                .valueStream()
                .filter(policy -> policy.has("permits"))
                .forEach(policy -> {
                    boolean taken = policy.get("outcome").asString().equals("admitted");
                    long permits = taken ? policy.get("permits").asLong() : 0;
                    assertThat(state(policy))
                            .as("%s under %s", request, policy)
                            .isEqualTo(Objects.requireNonNull(
                                            before.get(policy.get("policy").asString()))
                                    .stream()
                                    .map(left -> left - permits)
                                    .toList());
                });
    }

    private static Map<String, List<Long>> remaining(JsonNode said) {
        return said.get("policies")
                .valueStream()
                .filter(policy -> policy.has("limits"))
                .collect(Collectors.toMap(policy -> policy.get("policy").asString(), ExplainTest::limits));
    }

    private static List<Long> limits(JsonNode state) {
        return state.get("limits")
                .valueStream()
                .map(limit -> limit.get("remaining").asLong())
                .toList();
    }

    private List<Long> state(JsonNode policy) {
        String keys = policy.has("key")
                ? policy.get("key")
                        .valueStream()
                        .map(value -> "key=" + ActuatorClient.encoded(value.asString()))
                        .collect(Collectors.joining("&"))
                : "";
        String name = policy.get("policy").asString();
        JsonNode state = actuator.get("/" + name + "?" + (keys.isEmpty() ? "key=" : keys))
                .json();
        return limits(state);
    }

    @Test
    void explain_ofEveryKindOfRequest_isWhatTheFilterDoes() {
        start(RunningApp.WithoutSecurity.class);

        check("GET /orders/1", "X-Id: a");
        check("GET /orders/%31", "X-Id: a");
        check("GET /orders/1;x=1", "X-Id: a");
        check("GET /ORDERS/1", "X-Id: a");
        check("GET /orders/1/", "X-Id: a");
        check("HEAD /orders/2", "X-Id: a");
        check("DELETE /orders/2", "X-Id: a");
        check("PATCH /orders/2", "X-Id: a");
        check("POST /orders", "X-Id: a", "Content-Type: text/plain");
        check("GET /orders/1");
        check("GET /orders/1", "X-Id: a", "X-Id: b");
        check("GET /orders/1", "X-Id: boss");
        check("GET /nowhere", "X-Id: a");
        check("OPTIONS /any", "X-Id: a");
        check("OPTIONS /any", "Origin: http://a.example", "Access-Control-Request-Method: GET");
        check("GET /free");
        check("GET /any");
        check("GET /any?q=1");
        check("GET /any?q=1&x=2");
        check("GET /any?q=1");
        check("GET /any?q=1&q=2");
        check("GET /callable");
        check("GET /callable", "X-Caller: evil");
        check("GET /callable", "X-Caller: vip");
        check("GET /callable", "X-Caller: big");
        check("GET /callable", "X-Caller: big", "Cookie: sid=y; theme=dark");
        // Netty drops a cookie with a blank, Tomcat and Jetty drop the blank
        String blank = Server.DEFAULT.name().equals("NETTY") ? "" : " ";
        check("GET /callable", "X-Caller: big", "Cookie: theme=dark;sid=y" + blank + ";;=x; a b=c");
        check("GET /callable", "X-Caller: big", "Cookie: sid=y; theme=dark");
        check("GET /callable", "X-Caller: big", "Cookie: sid=z");
        check("GET /callable", "X-Caller: big", "Cookie: theme=dark");
        check("GET /deferred");
        check("GET /deferred");
        check("GET /stream?size=3");
        check("GET /stream?size=3");
        check("GET /stream");
        check("GET /search");
        check("GET /search");
        check("GET /search");
        check("GET /sse", "X-Beta: 1");
    }

    @Test
    void explain_withSpringSecurity_isWhatItsTwoStagesDo() {
        start(
                RunningApp.WithSecurity.class,
                "ratelimit.policies.person.limit=2/hour",
                "ratelimit.policies.person.key=user",
                "ratelimit.policies.person.match.paths=/sse");

        checkAs("alice", "GET /orders/1", "X-Id: a");
        checkAs("alice", "GET /sse");
        checkAs("alice", "GET /sse");
        checkAs("alice", "GET /sse");
        checkAs("alice", "GET /search");
        checkAs("alice", "GET /free");
    }

    @Test
    void explain_ofAnAnonymousRequest_takesNothing() {
        start(RunningApp.WithoutSecurity.class);
        JsonNode first = actuator.get("/explain?path=/search").json();

        for (int i = 0; i < 9; i++) {
            assertThat(actuator.get("/explain?path=/search").json()).isEqualTo(first);
        }
        assertThat(first.get("policies")
                        .valueStream()
                        .map(policy -> policy.get("policy").asString()))
                .containsExactly("work", "Pages.search-2", "wide");
        assertThat(first.get("endpoint").asString()).isEqualTo("GET /search");
    }
}

package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Contexts;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The actuator endpoint on a running server. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class RateLimitsEndpointTest extends AppPerTest {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=ratelimits,auditevents";
    private static final String WRITABLE = "management.endpoint.ratelimits.access=unrestricted";
    private static final String SHOW = "management.endpoint.ratelimits.show-keys=always";

    private static final List<String> NAMES =
            List.of("a/b", "a b:c.d%e+f&g~h", "a;b?c#d", "...", "a/page", "caller/a", "list", "overrides");

    @Configuration(proxyBeanMethods = false)
    static class Audit {

        @Bean
        AuditEventRepository audit() {
            return new InMemoryAuditEventRepository();
        }
    }

    /** A store whose server does not answer resets. */
    @Configuration(proxyBeanMethods = false)
    static class Silent {

        @Bean
        RateLimitStore store(Ticker ticker) {
            InMemoryStore memory = InMemoryStore.builder().ticker(ticker).build();
            return (RateLimitStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {RateLimitStore.class},
                    (proxy, method, arguments) ->
                            method.getName().equals("reset") ? false : method.invoke(memory, arguments));
        }
    }

    /** A store whose server does not answer. */
    @Configuration(proxyBeanMethods = false)
    static class Down {

        @Bean
        RateLimitStore store() {
            return (RateLimitStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {RateLimitStore.class}, (proxy, method, arguments) -> {
                        throw new StoreUnavailableException("p", Duration.ofSeconds(1), "no answer");
                    });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        PlanResolver plans() {
            return request -> request.header("X-Plan");
        }
    }

    private ActuatorClient app(String... properties) {
        start(List.of(TestApi.class, Audit.class), all(properties));
        return new ActuatorClient(app);
    }

    /** For tests of what is counted since the start. */
    private ActuatorClient ownApp(String... properties) {
        startOwn(List.of(TestApi.class, Audit.class), all(properties));
        return new ActuatorClient(app);
    }

    private static String[] all(String... properties) {
        return Stream.concat(
                        Stream.of(
                                EXPOSED,
                                "p.limit=2/hour",
                                "p.key=header:X-Id",
                                "p.match.paths=/orders/**",
                                "ratelimit.policies.off.limit=1/hour",
                                "ratelimit.policies.off.mode=off"),
                        Stream.of(properties))
                .toArray(String[]::new);
    }

    private static JsonNode policy(ActuatorClient actuator, String name) {
        return actuator.get("")
                .json()
                .get("policies")
                .valueStream()
                .filter(policy -> policy.get("name").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private void askOrders(int times, String id) {
        for (int i = 0; i < times; i++) {
            app.get("/orders/1", "X-Id: " + id);
        }
    }

    @Test
    void list_describesPolicies_andCountsRequests() {
        ActuatorClient actuator = ownApp();
        askOrders(5, "a");
        askOrders(1, "b");

        JsonNode all = actuator.get("").json();
        JsonNode policy = policy(actuator, "p");

        assertThat(all.get("writable").asBoolean()).isFalse();
        assertThat(all.get("store").get("type").asString()).isEqualTo("memory");
        assertThat(policy.get("limit").asString()).isEqualTo("2/hour");
        assertThat(policy.get("limits").get(0).asString()).isEqualTo("2/hour (token-bucket)");
        assertThat(policy.get("key").get(0).asString()).isEqualTo("header:x-id");
        assertThat(policy.get("applies").asString()).isEqualTo("on /orders/**");
        assertThat(policy.get("mode").asString()).isEqualTo("enforce");
        assertThat(policy.get("counts").get("admitted").asLong()).isEqualTo(3);
        assertThat(policy.get("counts").get("refused").asLong()).isEqualTo(3);
        assertThat(policy.get("lastHour").get("refused").get(59).asLong()).isEqualTo(3);
        assertThat(policy(actuator, "off").get("mode").asString()).isEqualTo("off");
        app.ticker().advance(Duration.ofMinutes(1));
        assertThat(policy(actuator, "p").get("lastHour").get("refused").get(58).asLong())
                .isEqualTo(3);
    }

    @Test
    void ownRequests_areNotCounted() {
        ActuatorClient actuator = app("ratelimit.policies.everywhere.limit=9/hour");
        for (int i = 0; i < 5; i++) {
            actuator.get("/page");
        }

        JsonNode counts = policy(actuator, "everywhere").get("counts");

        assertThat(counts.valueStream().mapToLong(JsonNode::asLong).sum()).isZero();
    }

    @Test
    void blockedKeys_areAmongTheMostRefused() {
        ActuatorClient actuator = ownApp(SHOW, "p.overrides.evil=blocked");
        askOrders(5, "evil");

        JsonNode most = policy(actuator, "p").get("mostRefused");

        assertThat(policy(actuator, "p").get("counts").get("refused").asLong()).isEqualTo(5);
        assertThat(most.get(0).get("key").get(0).asString()).isEqualTo("evil");
        assertThat(most.get(0).get("refused").asLong()).isEqualTo(5);
    }

    @Test
    void keys_areHashed_unlessTheyAreShown() {
        ActuatorClient actuator = ownApp();
        askOrders(5, "alice");

        String hidden =
                policy(actuator, "p").get("mostRefused").get(0).get("key").asString();

        assertThat(hidden).matches("#[0-9a-f]{12}");
        assertThat(actuator.get("/p?key=alice").json().get("key").asString()).isEqualTo(hidden);
        assertThat(actuator.get("/explain?path=/orders/1&header=X-Id:alice").body())
                .contains(hidden)
                .doesNotContain("alice");
        assertThat(actuator.get("").body()).doesNotContain("alice");

        ActuatorClient shown = ownApp(SHOW);
        askOrders(5, "alice");
        JsonNode most = policy(shown, "p").get("mostRefused").get(0);
        assertThat(most.get("key").get(0).asString()).isEqualTo("alice");
        assertThat(most.get("refused").asLong()).isEqualTo(3);
        assertThat(shown.get("/p?key=alice").json().get("key").get(0).asString())
                .isEqualTo("alice");
    }

    @Test
    void state_ofAKey_isThatOfItsRequests() {
        ActuatorClient actuator = app();
        askOrders(1, "a,b");

        JsonNode limit = actuator.get("/p?key=a%2Cb").json().get("limits").get(0);

        assertThat(limit.get("remaining").asLong()).isEqualTo(1);
        assertThat(limit.get("capacity").asLong()).isEqualTo(2);
        assertThat(limit.get("fullAfter").asDouble()).isEqualTo(1800);
        assertThat(actuator.get("/p?key=b")
                        .json()
                        .get("limits")
                        .get(0)
                        .get("remaining")
                        .asLong())
                .isEqualTo(2);
    }

    @Test
    void state_ofAKey_saysWhatItsNextRequestIsTold() {
        ActuatorClient actuator = app("p.penalty=2h", "p.permits=2", "p.limit=3/hour", "p.overrides.evil=blocked");
        JsonNode fresh = actuator.get("/p?key=a").json();
        assertThat(fresh.get("admitted").asBoolean()).isTrue();
        assertThat(fresh.get("permits").asLong()).isEqualTo(2);
        assertThat(fresh.has("retryAfter")).isFalse();

        askOrders(1, "a");
        JsonNode used = actuator.get("/p?key=a").json();
        assertThat(used.get("admitted").asBoolean()).isFalse();
        assertThat(used.get("retryAfter").asDouble()).isEqualTo(1200);
        assertThat(remaining(actuator, "/p?key=a")).isEqualTo(1);

        askOrders(1, "a");
        JsonNode penalized = actuator.get("/p?key=a").json();
        assertThat(penalized.get("admitted").asBoolean()).isFalse();
        assertThat(penalized.get("retryAfter").asDouble()).isEqualTo(7200);
        assertThat(penalized.get("limits").get(0).get("admitted").asBoolean()).isFalse();
        assertThat(app.get("/orders/1", "X-Id: a").header("Retry-After")).startsWith("720");
        assertThat(actuator.get("/p?key=evil").json().get("admitted").asBoolean())
                .isFalse();
        assertThat(actuator.get("/p?key=evil").json().get("override").asString())
                .isEqualTo("blocked");
    }

    @Test
    void state_underAShadow_isThatOfAnAdmittedRequest() {
        ActuatorClient actuator = app("p.mode=shadow");
        askOrders(3, "a");

        JsonNode state = actuator.get("/p?key=a").json();

        assertThat(state.get("admitted").asBoolean()).isTrue();
        assertThat(state.get("limits").get(0).get("admitted").asBoolean()).isFalse();
    }

    @Test
    void state_ofAKeyWhoseOwnerMayHaveAPlan_isToldForEachPlan() {
        start(
                List.of(TestApi.class, Plans.class),
                EXPOSED,
                "p.key=header:X-Id",
                "p.limit=2/hour",
                "p.plans.pro=8/hour",
                "p.plans.none=blocked",
                "p.overrides.vip=5/hour");
        ActuatorClient actuator = new ActuatorClient(app);
        for (int i = 0; i < 4; i++) {
            assertThat(app.get("/any", "X-Id: a", "X-Plan: pro").status()).isEqualTo(200);
        }

        JsonNode plans = actuator.get("/p?key=a").json().get("plans");

        assertThat(plans.valueStream().map(plan -> plan.get("plan").asString()))
                .containsExactly("default", "none", "pro");
        assertThat(plans.get(2).get("limits").get(0).get("capacity").asLong()).isEqualTo(8);
        assertThat(plans.get(2).get("limits").get(0).get("remaining").asLong()).isEqualTo(4);
        assertThat(plans.get(1).get("override").asString()).isEqualTo("blocked");
        assertThat(plans.get(0).get("limits").get(0).get("capacity").asLong()).isEqualTo(2);
        assertThat(remaining(actuator, "/p?key=vip")).isEqualTo(5);
        assertThat(app.get("/any", "X-Id: a", "X-Plan: pro").header("RateLimit"))
                .startsWith("\"p\";r=3;");
    }

    @Test
    void state_ofAPolicyWithConcurrency_hasBoth_andTheHalfHasItsOwnPath() {
        ActuatorClient actuator = app(WRITABLE, "p.concurrency=4");

        JsonNode limits = actuator.get("/p?key=a").json().get("limits");

        assertThat(limits.valueStream().map(limit -> limit.get("capacity").asLong()))
                .containsExactly(2L, 4L);
        assertThat(remaining(actuator, "/p/concurrency?key=a")).isEqualTo(4);
        assertThat(actuator.get("/p/concurrency").json().get("limit").asString())
                .isEqualTo("4");
    }

    @Test
    void storeThatDoesNotAnswer_isToldWithItsReason() {
        start(List.of(TestApi.class, Down.class), EXPOSED, "p.limit=2/hour", "p.key=header:X-Id");

        ActuatorClient.Answer answer = new ActuatorClient(app).get("/p?key=a");

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json().get("error").asString()).isEqualTo("policy p could not be checked: no answer");
    }

    @Test
    void questions_thatAreWrong_areAnsweredWithTheReason() {
        ActuatorClient actuator = app();

        assertThat(actuator.get("/q").status()).isEqualTo(404);
        assertThat(actuator.get("/q").json().get("error").asString()).contains("there is no policy 'q'");
        assertThat(actuator.get("/p?key=a&key=b").json().get("error").asString())
                .contains("has 1 part: [header:x-id], but there are 2 values");
        assertThat(actuator.get("/explain?path=orders").json().get("error").asString())
                .contains("path must start with /");
        assertThat(actuator.get("/explain?path=/&header=X").json().get("error").asString())
                .contains("write X-Api-Key: a");
    }

    @Test
    void questions_withWhatNobodyReads_areAnsweredWithWhatThereIs() {
        ActuatorClient actuator = app();
        Map<String, String> errors = Map.of(
                "?x=1", "there is no parameter 'x'",
                "/p?ky=a", "there is no parameter 'ky'; write key",
                "/p?key=a&path=/", "there is no parameter 'path'; write key",
                "/explain?path=/&usr=x", "there is no parameter 'usr'; write address, header, method, path, user",
                "/explain", "explain needs the path of a request; write explain?path=/orders/1",
                "/explain?pth=/", "there is no parameter 'pth'; write address, header, method, path, user",
                "/explain?path=/&address=300.1.1.1", "'300.1.1.1' is not an address; write 10.0.0.7 or 2001:db8::1",
                "/explain?path=/&address=", "'' is not an address; write 10.0.0.7 or 2001:db8::1",
                "/explain?path=/&method=get",
                        "method must be an HTTP method in capital letters, such as GET, but was 'get'",
                "/explain?path=/&method=", "method must be an HTTP method in capital letters, such as GET, but was ''");

        errors.forEach((question, error) -> {
            ActuatorClient.Answer answer = actuator.get(question);
            assertThat(answer.status()).as(question).isEqualTo(400);
            assertThat(answer.json().get("error").asString()).as(question).isEqualTo(error);
        });
        assertThat(actuator.get("/p?continue").status()).isEqualTo(200);
        assertThat(actuator.get("/page?continue").status()).isEqualTo(200);
    }

    @Test
    void path_namesThePolicy_andNothingElseDoes() {
        ActuatorClient actuator = app(WRITABLE, "ratelimit.policies.a.limit=7/hour");
        askOrders(2, "x");

        assertThat(actuator.post("/p", Map.of("policy", "a", "mode", "off")).status())
                .isEqualTo(400);
        assertThat(actuator.post("/p?policy=a", Map.of("mode", "off")).status()).isEqualTo(400);
        assertThat(actuator.post("/p?mode=off", Map.of()).status()).isEqualTo(400);
        assertThat(actuator.post("/p?mode=off", Map.of("limit", "9/hour")).status())
                .isEqualTo(400);
        assertThat(actuator.delete("/a?policy=p&key=x").status()).isEqualTo(400);
        assertThat(actuator.get("/a?policy=p").json().get("error").asString())
                .isEqualTo("there is no field 'policy': the path names the policy");

        assertThat(policy(actuator, "a").has("changed")).isFalse();
        assertThat(policy(actuator, "p").has("changed")).isFalse();
        assertThat(remaining(actuator, "/p?key=x")).isZero();
    }

    @Test
    void limits_asAList_changeNothing_asOneTextDo() {
        ActuatorClient actuator = app(WRITABLE);

        assertThat(actuator.post("/p", Map.of("limit", List.of("1/second", "3/hour")))
                        .status())
                .isEqualTo(400);
        assertThat(actuator.post("/p", List.of("3/hour")).status()).isEqualTo(400);
        assertThat(policy(actuator, "p").has("changed")).isFalse();

        assertThat(actuator.post("/p", Map.of("limit", "1/second; 3/hour", "burst", 0))
                        .status())
                .isEqualTo(200);
        assertThat(policy(actuator, "p").get("limits")).hasSize(2);
    }

    @Test
    void policy_withANameThatTheFirewallRefuses_cannotBeReadBehindSpringSecurity() {
        try (RunningApp secured = RunningApp.start(
                List.of(TestApi.class, RunningApp.WithSecurity.class, RunningApp.Alice.class),
                "ratelimit.policies[a;b].limit=7/hour",
                "ratelimit.policies[a%b].limit=7/hour",
                "ratelimit.policies.a.limit=7/hour",
                "management.endpoints.web.exposure.include=ratelimits")) {
            assertThat(secured.getAs("alice", "/actuator/ratelimits/a").status())
                    .isEqualTo(200);
            for (String path : List.of("a%3Bb", "a%25b")) {
                // of the firewall or, for its error page, of the authorization
                assertThat(secured.getAs("alice", "/actuator/ratelimits/" + path)
                                .status())
                        .isIn(400, 401);
            }
        }
    }

    private static long remaining(ActuatorClient actuator, String state) {
        return actuator.get(state).json().get("limits").get(0).get("remaining").asLong();
    }

    @ParameterizedTest
    @FieldSource("NAMES")
    void policy_ofAnyName_canBeReadChangedAndReset(String name) {
        ActuatorClient actuator = app(Stream.concat(
                        Stream.of(WRITABLE),
                        NAMES.stream()
                                .map("ratelimit.policies[%s]"::formatted)
                                .flatMap(policy -> Stream.of(policy + ".limit=7/hour", policy + ".key=ip")))
                .toArray(String[]::new));
        String path = "/"
                + Stream.of(name.split("/"))
                        .map(ActuatorClient::encoded)
                        .collect(Collectors.joining("/"))
                        .replace("+", "%20");

        assertThat(actuator.get(path).json().get("name").asString()).isEqualTo(name);
        assertThat(actuator.post(path, Map.of("limit", "9/hour")).status()).isEqualTo(200);
        assertThat(remaining(actuator, path + "?key=10.0.0.1")).isEqualTo(9);
        assertThat(actuator.delete(path + "?key=10.0.0.1").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ".",
                "..",
                "a/../b",
                "/a",
                "a/",
                "a//b",
                "page",
                "explain",
                "caller",
                "history",
                "yaml",
                "a/overrides",
                "a/history"
            })
    void policy_thatCouldNotBeAddressed_stopsTheStart(String name) {
        Contexts.withoutServer()
                .withPropertyValues("ratelimit.policies[" + name + "].limit=1/hour")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("actuator")
                        .hasMessageContaining("rename"));
    }

    @Test
    void answers_areKeptByNobody_andShownInNoFrame() throws Exception {
        app();
        for (String path : List.of("", "/p", "/page", "/p?ky=a", "/caller?user=a")) {
            RawResponse response = app.get("/actuator/ratelimits" + path);

            assertThat(response.header("Cache-Control")).isEqualTo("no-store");
            assertThat(response.header("Content-Security-Policy")).isEqualTo("frame-ancestors 'none'");
            assertThat(response.header("X-Frame-Options")).isEqualTo("DENY");
        }
    }

    @Test
    void writes_byDefault_areNotPossible() {
        ActuatorClient actuator = app();
        askOrders(3, "a");

        assertThat(actuator.post("/p", Map.of("limit", "9/hour")).status()).isEqualTo(405);
        assertThat(actuator.delete("/p?key=a").status()).isEqualTo(405);
        assertThat(actuator.get("/p?key=a")
                        .json()
                        .get("limits")
                        .get(0)
                        .get("remaining")
                        .asLong())
                .isZero();
    }

    @Test
    void change_andReset_applyAtOnce_andAreAudited(CapturedOutput output) {
        ActuatorClient actuator = app(WRITABLE);
        askOrders(3, "a");
        assertThat(actuator.get("").json().get("writable").asBoolean()).isTrue();

        assertThat(actuator.post("/p", Map.of("limit", "4/hour", "mode", "shadow"))
                        .json()
                        .get("changed")
                        .asString())
                .isEqualTo("limit 4/hour, mode shadow");
        assertThat(app.get("/orders/1", "X-Id: a").status()).isEqualTo(200);
        assertThat(actuator.post("/p", Map.of("mode", "enforce", "burst", 9))
                        .json()
                        .get("limits")
                        .get(0)
                        .asString())
                .isEqualTo("4/hour (token-bucket, burst 9)");
        assertThat(app.get("/orders/1", "X-Id: a").status()).isEqualTo(429);
        assertThat(actuator.delete("/p?key=a").status()).isEqualTo(200);
        assertThat(app.get("/orders/1", "X-Id: a").status()).isEqualTo(200);
        assertThat(actuator.post("/p", Map.of("restore", true)).json().has("changed"))
                .isFalse();
        assertThat(app.bean(RateLimitPolicies.class).policy("p").limits().get(0).capacity())
                .isEqualTo(2);

        List<AuditEvent> events = app.bean(AuditEventRepository.class).find(null, null, "RATE_LIMIT_CHANGED");
        assertThat(events)
                .hasSize(4)
                .allMatch(event -> "p".equals(event.getData().get("policy")));
        assertThat(events.get(0).getPrincipal()).isEqualTo("anonymous");
        assertThat(events.get(0).getData())
                .containsEntry("change", "limit 4/hour, mode shadow")
                .containsEntry("from", "2/hour (token-bucket), mode enforce")
                .containsEntry("to", "4/hour (token-bucket), mode shadow");
        assertThat(output)
                .contains("Rate limit 'p' was changed by 'anonymous' from 2/hour (token-bucket), mode enforce to")
                .containsPattern("Rate limit 'p': key #[0-9a-f]{12} was reset by 'anonymous'");
        assertThat(Objects.requireNonNull(events.get(2).getData().get("reset")).toString())
                .matches("#[0-9a-f]{12}");
    }

    @Test
    void change_thatIsWrong_isRefusedWhole_withTheMessageOfTheStart() {
        ActuatorClient actuator = app(WRITABLE);

        ActuatorClient.Answer answer = actuator.post("/p", Map.of("limit", "4/eternity", "mode", "off"));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString()).startsWith("ratelimit.policies.p.limit: ");
        assertThat(actuator.post("/p", Map.of("mode", "on")).json().get("error").asString())
                .isEqualTo("mode must be enforce, shadow or off but was 'on'");
        assertThat(actuator.post("/p", Map.of()).status()).isEqualTo(400);
        assertThat(policy(actuator, "p").get("mode").asString()).isEqualTo("enforce");
        assertThat(policy(actuator, "p").has("changed")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'burst': 1.5} | burst must be a whole number, 0 for the permits of one period, but was '1.5'",
                "{'burst': true} | burst must be a whole number, 0 for the permits of one period, but was 'true'",
                "{'burst': -1} | burst must be a whole number, 0 for the permits of one period, but was '-1'",
                "{'burst': 9223372036854775808} | burst must be a whole number, 0 for the permits of one period, but"
                        + " was '9223372036854775808'",
                "{'restore': 'yes'} | restore must be true or false but was 'yes'",
                "{'restore': false} | nothing to change; write limit, burst, mode, penalty, maxWait, paths or restore",
                "{'version': 'abc'} | nothing to change; write limit, burst, mode, penalty, maxWait, paths or restore"
            })
    void change_withAWrongValue_isRefusedWithTheReason(String body, String error) {
        ActuatorClient actuator = app(WRITABLE);

        ActuatorClient.Answer answer = actuator.post("/p", JsonMapper.shared().readTree(body.replace('\'', '"')));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString()).isEqualTo(error);
    }

    @Test
    void change_ofAVersionThatIsNotInForce_isRefused() {
        ActuatorClient actuator = app(WRITABLE);
        String seen = policy(actuator, "p").get("version").asString();
        actuator.post("/p", Map.of("mode", "shadow"));

        ActuatorClient.Answer answer = actuator.post("/p", Map.of("limit", "9/hour", "version", seen));

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("error").asString())
                .isEqualTo("the policy was changed meanwhile, and is 2/hour (token-bucket), mode shadow now; look at it"
                        + " before you change it");
        assertThat(policy(actuator, "p").get("limit").asString()).isEqualTo("2/hour");
        JsonNode now = actuator.get("/p").json();
        assertThat(actuator.post(
                                "/p",
                                Map.of(
                                        "limit",
                                        "9/hour",
                                        "version",
                                        now.get("version").asString()))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void field_thatIsUnknown_changesNothing() {
        ActuatorClient actuator = app(WRITABLE);

        ActuatorClient.Answer answer = actuator.post("/p", Map.of("limitt", "4/hour", "mode", "shadow"));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString())
                .isEqualTo(
                        "there is no field 'limitt'; write burst, dryRun, duration, limit, maxWait, mode, paths, penalty,"
                                + " plan, reason, restore, until, version");
        assertThat(policy(actuator, "p").has("changed")).isFalse();
        assertThat(actuator.delete("/p?key=a&kye=b").json().get("error").asString())
                .isEqualTo("there is no parameter 'kye'; write key");
    }

    @Test
    void reset_thatTheStoreDoesNotAnswer_isNoSuccess() {
        start(
                List.of(TestApi.class, Audit.class, Silent.class),
                EXPOSED,
                WRITABLE,
                "p.limit=2/hour",
                "p.key=header:X-Id");
        ActuatorClient actuator = new ActuatorClient(app);

        ActuatorClient.Answer answer = actuator.delete("/p?key=a");

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json().get("error").asString()).startsWith("the store does not answer");
        assertThat(app.bean(AuditEventRepository.class).find(null, null, "RATE_LIMIT_CHANGED"))
                .singleElement()
                .satisfies(event -> assertThat(event.getData()).containsEntry("answered", false));
    }

    @Test
    void endpoint_unlessExposed_costsNothing() {
        var runner = Contexts.withoutServer().withPropertyValues("ratelimit.policies.api.limit=1/hour");

        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(RateLimitsEndpoint.class)
                .doesNotHaveBean("dev.ratelimit.traffic"));
        runner.withPropertyValues("management.endpoints.web.exposure.include=ratelimits")
                .run(context -> assertThat(context).hasSingleBean(RateLimitsEndpoint.class));
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "management.endpoint.ratelimits.access=NONE")
                .run(context -> assertThat(context).doesNotHaveBean(RateLimitsEndpoint.class));
    }

    @Test
    void restoreTogetherWithAWrongChange_changesNothing() {
        ActuatorClient actuator = app(WRITABLE);
        actuator.post("/p", Map.of("limit", "5/hour", "burst", 9));

        assertThat(actuator.post("/p", Map.of("restore", true, "limit", "5/eternity"))
                        .status())
                .isEqualTo(400);
        assertThat(policy(actuator, "p").get("changed").asString()).isEqualTo("limit 5/hour, burst 9");

        assertThat(actuator.post("/p", Map.of("restore", true, "mode", "shadow"))
                        .status())
                .isEqualTo(200);
        assertThat(policy(actuator, "p").get("changed").asString()).isEqualTo("mode shadow");
        assertThat(policy(actuator, "p").get("limit").asString()).isEqualTo("2/hour");
    }

    @Test
    void limitOfConcurrency_isShownAsItIsWritten() {
        ActuatorClient actuator = app(WRITABLE, "ratelimit.policies.slots.concurrency=4");
        String shown = policy(actuator, "slots").get("limit").asString();

        assertThat(shown).isEqualTo("4");
        assertThat(actuator.post("/slots", Map.of("limit", shown)).status()).isEqualTo(200);
    }
}

package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;

/** What the endpoint says of a caller over all policies. */
@Tag("servers")
class CallerTest extends AppPerTest {

    private static final String SHOW = "management.endpoint.ratelimits.show-keys=always";

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

    private ActuatorClient app(List<Class<?>> more, String... properties) {
        startOwn(
                Stream.concat(Stream.of(TestApi.class), more.stream()).toList(),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "p.limit=2/hour",
                        "p.key=header:X-Id",
                        "p.match.paths=/orders/**"),
                properties);
        return new ActuatorClient(app);
    }

    /** Returns what the last one is told. */
    @CanIgnoreReturnValue
    private RawResponse askOrders(int times, String id) {
        RawResponse last = app.get("/orders/1", "X-Id: " + id);
        for (int i = 1; i < times; i++) {
            last = app.get("/orders/1", "X-Id: " + id);
        }
        return last;
    }

    private static JsonNode policy(JsonNode caller, String name) {
        return caller.get("policies")
                .valueStream()
                .filter(policy -> policy.get("policy").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> names(JsonNode policies) {
        return policies.valueStream()
                .map(policy -> policy.get("policy").asString())
                .toList();
    }

    @Test
    void caller_ofAHeader_hasItsState() {
        ActuatorClient actuator = app(
                List.of(),
                SHOW,
                "ratelimit.policies.ips.limit=100/hour",
                "ratelimit.policies.ips.key=ip",
                "ratelimit.policies.all.limit=100/hour",
                "p.overrides.a=3/hour");
        askOrders(4, "a");
        app.ticker().advance(Duration.ofMinutes(1));
        askOrders(2, "a");

        JsonNode caller = actuator.get("/caller?header=X-Id:%20a").json();

        JsonNode key = policy(caller, "p").get("keys").get(0);
        assertThat(names(caller.get("policies"))).containsExactly("p");
        assertThat(names(caller.get("others"))).containsExactly("all", "ips");
        assertThat(key.get("key").get(0).asString()).isEqualTo("a");
        assertThat(key.get("override").asString()).isEqualTo("3/hour");
        assertThat(key.get("limits")).isEqualTo(actuator.get("/p?key=a").json().get("limits"));
        assertThat(key.get("retryAfter").asDouble()).isEqualTo(1140);
        assertThat(key.get("mostRefused").get("refused").asInt()).isEqualTo(3);
    }

    @Test
    void user_whoIsRefusedBehindSpringSecurity_isFound_asIsTheAddressBeforeIt() {
        app(
                List.of(RunningApp.WithSecurity.class, RunningApp.Alice.class),
                SHOW,
                "ratelimit.policies.person.limit=2/hour",
                "ratelimit.policies.person.key=user",
                "ratelimit.policies.person.match.paths=/any",
                "ratelimit.policies.ips.limit=5/hour",
                "ratelimit.policies.ips.key=ip",
                "ratelimit.policies.ips.stage=before-security",
                "ratelimit.policies.ips.match.paths=/any");
        ActuatorClient actuator = new ActuatorClient(
                app,
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.US_ASCII)));
        for (int i = 0; i < 9; i++) {
            app.getAs("alice", "/any");
        }

        JsonNode alice = actuator.get("/caller?user=alice").json();
        JsonNode address = actuator.get("/caller?address=127.0.0.1").json();

        assertThat(policy(alice, "person").get("keys").get(0).get("admitted").asBoolean())
                .isFalse();
        assertThat(policy(address, "ips")
                        .get("keys")
                        .get(0)
                        .get("limits")
                        .get(0)
                        .get("capacity")
                        .asLong())
                .isEqualTo(5);
    }

    @Test
    void keys_areHashed_unlessTheyAreShown() {
        ActuatorClient actuator = app(
                List.of(), "ratelimit.policies.both.limit=1/hour", "ratelimit.policies.both.key=header:X-Id, endpoint");
        askOrders(5, "alice");

        String hidden = actuator.get("/caller?header=X-Id:alice").body();

        assertThat(hidden).doesNotContain("alice");
        assertThat(hidden)
                .contains(actuator.get("/p?key=alice").json().get("key").asString());
    }

    @Test
    void keyOfSeveralParts_isFound_byOneOfThem() {
        ActuatorClient actuator = app(
                List.of(),
                SHOW,
                "ratelimit.policies.both.limit=1/hour",
                "ratelimit.policies.both.key=header:X-Id, endpoint");
        askOrders(5, "alice");

        JsonNode key = policy(actuator.get("/caller?header=X-Id:alice").json(), "both")
                .get("keys")
                .get(0);

        assertThat(key.get("key").valueStream().map(JsonNode::asString)).containsExactly("alice", "GET /orders/{id}");
        assertThat(key.get("mostRefused").get("refused").asInt()).isEqualTo(4);
    }

    @Test
    void storeThatDoesNotAnswer_isSaid() {
        ActuatorClient actuator = app(List.of(Down.class));

        ActuatorClient.Answer answer = actuator.get("/caller?header=X-Id:a");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(policy(answer.json(), "p").get("keys").get(0).get("error").asString())
                .isEqualTo("policy p could not be checked: no answer");
    }

    @Test
    void questions_thatAreWrong_areAnsweredWithTheReason() {
        ActuatorClient actuator = app(List.of());
        Map<String, String> errors = Map.of(
                "",
                        "caller needs to know who calls; write caller?user=alice, caller?address=203.0.113.7,"
                                + " caller?header=X-Api-Key:a, or caller?key=a for a key of another kind",
                "?usr=a", "there is no parameter 'usr'; write address, header, key, user",
                "?user=a&path=/", "there is no parameter 'path'; write address, header, key, user",
                "?user=a&user=b", "there are 2 values of user; write one",
                "?user=", "user must not be blank; write a value, or leave it out",
                "?address=x", "'x' is not an address; write 10.0.0.7 or 2001:db8::1",
                "?header=X-Id", "a header needs a name and a value, but was 'X-Id'; write X-Api-Key: a");

        errors.forEach((question, error) -> {
            ActuatorClient.Answer answer = actuator.get("/caller" + question);
            assertThat(answer.status()).as(question).isEqualTo(400);
            assertThat(answer.json().get("error").asString()).as(question).isEqualTo(error);
        });
    }
}

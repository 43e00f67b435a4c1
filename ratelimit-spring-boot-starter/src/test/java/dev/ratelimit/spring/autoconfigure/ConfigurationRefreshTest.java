package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Forgetful;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.boot.actuate.ActuatorClient;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

/** The configuration changes while the application runs, and Spring Cloud tells so. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class ConfigurationRefreshTest extends AppPerTest {

    private static final String P = "ratelimit.policies.p.";

    /** Takes the event to the listeners. */
    record Cloud(ApplicationContext context, ConfigurableEnvironment environment) {

        void refresh(Map<String, Object> properties) {
            environment.getPropertySources().remove("refreshed");
            environment.getPropertySources().addFirst(new MapPropertySource("refreshed", new HashMap<>(properties)));
            context.publishEvent(new EnvironmentChangeEvent(context, Set.copyOf(properties.keySet())));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Clouds {

        @Bean
        Cloud cloud(ApplicationContext context, ConfigurableEnvironment environment) {
            return new Cloud(context, environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Listener implements Forgetful {

        final List<RateLimitChangedEvent> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void hear(RateLimitChangedEvent event) {
            heard.add(event);
        }

        @Override
        public void forget() {
            heard.clear();
        }
    }

    @RestController
    static class Pages {

        @GetMapping("/annotated")
        @RateLimited(policy = "p", permits = 5)
        String annotated(String tenant) {
            return "page";
        }
    }

    @BeforeEach
    void start() {
        startShared(
                List.of(TestApi.class, Pages.class, Clouds.class, Listener.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "p.limit=10/hour",
                "p.match.paths=/any",
                "ratelimit.policies.q.limit=100/hour");
    }

    @AfterEach
    void leaveWhatWasRefreshed() {
        refresh();
    }

    private void refresh(String... properties) {
        Map<String, Object> map = new HashMap<>();
        for (String property : properties) {
            map.put(property.split("=", 2)[0], property.split("=", 2)[1]);
        }
        app.bean(Cloud.class).refresh(map);
    }

    private long remaining(String policy) {
        return app.bean(RateLimitPolicies.class).state(policy).stream()
                .mapToLong(LimitStatus::remaining)
                .min()
                .orElseThrow();
    }

    @Test
    void changedLimit_isInForce_andKeepsWhatWasUsed() {
        app.get("/any");
        app.get("/annotated");
        assertThat(remaining("p")).isEqualTo(4);

        refresh(P + "limit=20/hour", P + "match.paths=/orders/**", "ratelimit.policies.r.limit=1/hour");

        assertThat(remaining("p")).isEqualTo(8);
        app.get("/any");
        assertThat(remaining("p")).isEqualTo(8);
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
        assertThat(remaining("p")).isEqualTo(8);
        refresh();
        assertThat(remaining("p")).isEqualTo(4);
        assertThat(app.bean(RateLimitPolicies.class).names()).containsExactly("p", "q");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=ten/hour | ratelimit.policies.p.limit: 'ten/hour': 'ten' is not a whole number of permits",
                "limitt=10/hour | did you mean 'limit'?",
                "limit=4/hour | @RateLimited on Pages.annotated(): permits must be from 0 to 4",
                "max-hold=soon | Write a duration, such as 50ms",
                "key= | ratelimit.policies.p.key: has no value",
                "max-keys=5 | max-keys cannot be changed while the application runs",
                "on-store-failure=deny | on-store-failure cannot be changed while the application runs",
                "count=401 | count cannot be changed while the application runs",
                "on-exceeded.action=wait | on-exceeded cannot be changed while the application runs"
            })
    void mistake_changesNothing_andIsReportedAsAtTheStart(String property, String message, CapturedOutput output) {
        refresh("ratelimit.policies.q.limit=7/hour", P + property);

        assertThat(output).contains("stay as they are").contains(message);
        assertThat(remaining("q")).isEqualTo(100);
        assertThat(remaining("p")).isEqualTo(10);
        assertThat(app.get("/any").status()).isEqualTo(200);
    }

    @Test
    void policy_thatMatchesNothing_isWarnedOf(CapturedOutput output) {
        refresh(P + "match.paths=/nay");

        assertThat(output).contains("Rate limit 'p' is for /nay, but no controller");
    }

    @Test
    void changeOfSomethingElse_warnsOfNothing(CapturedOutput output) {
        start(List.of(Pages.class, Clouds.class), "p.limit=10/hour", "p.match.paths=/nowhere");

        refresh("something.else=1");

        assertThat(output).containsOnlyOnce("Rate limit 'p' is for /nowhere, but no controller");
    }

    @Test
    void response_ofAPolicy_isReadAgain() {
        for (int i = 0; i < 10; i++) {
            app.get("/any");
        }
        assertThat(app.get("/any").body()).contains("\"status\":429");

        refresh(P + "response.status=420");

        assertThat(app.get("/any").status()).isEqualTo(420);
        assertThat(app.get("/any").body()).contains("\"status\":420");
    }

    @Test
    void limitsThatDependOnArguments_needARestart(CapturedOutput output) {
        start(List.of(Pages.class, Clouds.class), "p.limit=10/hour");

        refresh(P + "key=#tenant", P + "match.annotated=true");

        assertThat(output).contains("its limits depend on arguments now");
        assertThat(remaining("p")).isEqualTo(10);
    }

    @Test
    void changesByOperators_stay(CapturedOutput output) {
        app.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("50/hour"));

        refresh(P + "limit=20/hour", "ratelimit.policies.q.limit=7/hour");
        assertThat(remaining("p")).isEqualTo(50);
        assertThat(remaining("q")).isEqualTo(7);
        app.bean(RateLimitPolicies.class).restore("p");

        assertThat(remaining("p")).isEqualTo(20);
        assertThat(output).contains("Rate limits have the policies of the changed configuration: [p, q]");
    }

    @Test
    void otherProperties_changeNothing(CapturedOutput output) {
        refresh("spring.application.name=other");

        assertThat(output).doesNotContain("changed configuration");
    }

    @Test
    void newPolicyThatLetsRequestsWait_needsARestart(CapturedOutput output) {
        refresh("ratelimit.policies.r.limit=1/hour", "ratelimit.policies.r.on-exceeded.action=wait");

        assertThat(output)
                .contains("ratelimit.policies.r.on-exceeded")
                .contains("on-exceeded cannot be changed while the application runs");
        assertThat(app.bean(RateLimitPolicies.class).names()).containsExactly("p", "q");
    }

    @Test
    void propertyThatIsReadAtTheStartOnly_isLogged(CapturedOutput output) {
        refresh("ratelimit.trusted-proxies=10.0.0.0/8", "ratelimit.exempt.paths=/free", "ratelimit.enabled=true");

        assertThat(output)
                .contains("A changed configuration of ratelimit.trusted-proxies, ratelimit.exempt needs a restart");
    }

    @Test
    void differences_areLogged(CapturedOutput output) {
        refresh(P + "limit=20/hour", "ratelimit.policies.r.limit=1/hour");

        assertThat(output)
                .contains(
                        "Rate limit 'p' was 'p': 10/hour (token-bucket) shared by all callers, on /any, and is 'p': 20/hour"
                                + " (token-bucket) shared by all callers, on /any")
                .contains("Rate limit 'r' was absent, and is 'r': 1/hour (token-bucket)")
                .doesNotContain("Rate limit 'q' was");
    }

    @Test
    void refusedConfiguration_isShown_untilAnotherIsApplied() {
        MeterRegistry registry = app.bean(MeterRegistry.class);
        refresh(P + "limit=ten/hour");

        JsonNode refused = new ActuatorClient(app).get("").json().get("refusedConfiguration");

        assertThat(refused.get("reason").asString()).contains("'ten' is not a whole number of permits");
        assertThat(Instant.parse(refused.get("since").asString()))
                .isBefore(Instant.now().plusSeconds(1));
        assertThat(registry.get("ratelimit.configuration.refused").gauge().value())
                .isEqualTo(1);
        refresh();
        assertThat(new ActuatorClient(app).get("").json().has("refusedConfiguration"))
                .isFalse();
        assertThat(registry.get("ratelimit.configuration.refused").gauge().value())
                .isZero();
    }

    @Test
    void meters_areThoseOfThePoliciesInForce() {
        MeterRegistry registry = app.bean(MeterRegistry.class);
        refresh("ratelimit.policies.q.mode=off", "ratelimit.policies.r.limit=1/hour");
        app.get("/any");
        assertThat(policiesOf(registry, "ratelimit.keys")).containsExactlyInAnyOrder("p", "q", "r");
        assertThat(registry.get("ratelimit.keys").tag("policy", "r").gauge().value())
                .isEqualTo(1);

        refresh();

        assertThat(policiesOf(registry, "ratelimit.keys")).containsExactlyInAnyOrder("p", "q");
        assertThat(policiesOf(registry, "ratelimit.evictions")).containsOnly("p", "q");
        assertThat(policiesOf(registry, "ratelimit.changed")).containsExactlyInAnyOrder("p", "q");
    }

    private static List<String> policiesOf(MeterRegistry registry, String name) {
        return registry.find(name).meters().stream()
                .map(meter -> String.valueOf(meter.getId().getTag("policy")))
                .toList();
    }

    @Test
    void changedConfiguration_isAnEvent_forEachPolicyThatDiffers() {
        refresh(P + "limit=20/hour", "ratelimit.policies.r.limit=1/hour");

        List<RateLimitChangedEvent> heard = app.bean(Listener.class).heard;
        await().until(() -> heard.size() == 2);
        assertThat(heard)
                .allSatisfy(event -> assertThat(event.cause()).isEqualTo(RateLimitChangedEvent.Cause.CONFIGURATION));
        assertThat(heard).extracting(RateLimitChangedEvent::policy).containsExactly("p", "r");
        assertThat(heard.get(0).from()).contains("10/hour");
        assertThat(heard.get(0).to()).contains("20/hour");
        assertThat(heard.get(1).from()).isEqualTo("absent");
    }

    @Test
    void changeByAnOperator_isMeasured() {
        MeterRegistry registry = app.bean(MeterRegistry.class);
        assertThat(registry.get("ratelimit.changed").tag("policy", "p").gauge().value())
                .isZero();

        app.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("50/hour"));

        assertThat(registry.get("ratelimit.changed").tag("policy", "p").gauge().value())
                .isEqualTo(1);
        assertThat(registry.get("ratelimit.changed").tag("policy", "q").gauge().value())
                .isZero();
    }

    @Test
    void configurationThatIsHiddenByAChange_isWarnedOf(CapturedOutput output) {
        app.bean(RateLimitPolicies.class)
                .change("p", RateLimitChange.toLimit("50/hour").because("release"));

        refresh(P + "limit=20/hour");

        assertThat(output)
                .contains("Rate limit 'p' does not have the limit that is configured now: 20/hour. In force is 50/hour,"
                        + " which 'the application' has set at ")
                .contains("because of 'release', when 10/hour was configured");
    }

    @Test
    void overridesByAnOperator_areCounted() {
        refresh(P + "key=user");
        MeterRegistry registry = app.bean(MeterRegistry.class);
        RateLimitPolicies policies = app.bean(RateLimitPolicies.class);

        policies.override("p", "a", KeyOverride.blocked());
        policies.override("p", "b", KeyOverride.blocked().lasting(Duration.ofMinutes(1)));

        assertThat(overrides(registry, "p")).isEqualTo(2);
        assertThat(overrides(registry, "q")).isZero();
        app.ticker().advance(Duration.ofMinutes(1));
        assertThat(overrides(registry, "p")).isEqualTo(1);
    }

    private static double overrides(MeterRegistry registry, String policy) {
        return registry.get("ratelimit.overrides").tag("policy", policy).gauge().value();
    }
}

package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.Contexts;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Whoever finds a mistake, it stops the start before the server, and is reported once. The mistakes themselves are tested
 * beside the rules.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class ConfigurationMistakesTest {

    private static final String LIMIT = "ratelimit.policies.login.limit=9/s";

    private static void fails(List<Class<?>> controllers, String... properties) {
        assertThatThrownBy(() -> RunningApp.start(controllers, properties).close())
                .isInstanceOf(Exception.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "policies.login.key= | ratelimit.policies.login.key: has no value | Write a value or remove the property",
                "policies.login.limitt=9/s | ratelimit.policies.login.limitt: did you mean 'limit'? | Correct the name or remove the property.",
                "policies.login.mode=watch | ratelimit.policies.login.mode: 'watch' cannot be read | Write enforce, shadow or off.",
                "policies.login.key=usr | ratelimit.policies.login.key: unknown key part 'usr' (did you mean 'user'?) | Write user, principal, ip"
            })
    @DisplayName(
            "F1 F2 F3 F4 a mistake in a property is reported once, with what to write, and before the server starts")
    void property_mistaken_isReportedOnce(String property, String report, String remedy, CapturedOutput output) {
        fails(List.of(), LIMIT, "ratelimit." + property);

        assertThat(output.getOut())
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains("Description:\n\n")
                .contains("    " + report)
                .contains("Action:\n\n" + remedy)
                .doesNotContain("\tat ")
                .doesNotContain("Error starting");
    }

    @RestController
    static class Unknown {
        @GetMapping("/")
        @RateLimited(policy = "x")
        String create() {
            return "";
        }
    }

    @Test
    @DisplayName("F6 a mistake in an annotation is reported once, with class and method")
    void annotation_mistaken_isReportedOnce(CapturedOutput output) {
        fails(List.of(Unknown.class), LIMIT);

        assertThat(output.getOut())
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains("@RateLimited on Unknown.create(): names policy 'x', which does not exist")
                .doesNotContain("\tat ");
    }

    @RestController
    static class Unread {
        @GetMapping("/unread")
        @RateLimited("5")
        String create() {
            return helper();
        }

        @RateLimited("5/minute")
        String helper() {
            return "";
        }
    }

    @Test
    void annotations_mistaken_areReportedTogether(CapturedOutput output) {
        fails(List.of(Unknown.class, Unread.class), LIMIT);

        assertThat(output.getOut())
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains("@RateLimited on Unknown.create(): names policy 'x', which does not exist")
                .contains("@RateLimited on Unread.create(): '5' has no period")
                .contains("the annotation on Unread.helper(): it has no effect");
    }

    @Test
    void variable_misspelt_stopsTheStartUnlessLimitsAreOff() {
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        Map<String, Object> variables = Map.of("RATELIMIT_POLICIES_LOGIN_LIMITT", "5/minute");
        var misspelt = Contexts.withServer()
                .withPropertyValues(LIMIT)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(name, new SystemEnvironmentPropertySource(name, variables)));

        misspelt.run(context -> assertThat(context)
                .getFailure()
                .hasMessage("environment variable RATELIMIT_POLICIES_LOGIN_LIMITT: no property has this name; did you"
                        + " mean 'limit'?"));
        misspelt.withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void redis_withoutItsDependency_isMissedBeforeTheServerStarts(CapturedOutput output) {
        Contexts.withServer()
                .withPropertyValues(LIMIT)
                .withClassLoader(new FilteredClassLoader(RedisStore.class))
                .withPropertyValues("ratelimit.store.type=redis")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("redis needs a dependency that is missing"));

        assertThat(output).doesNotContain("Error starting");
    }

    @Test
    void mistake_inAFile_isReportedWithItsPlace(CapturedOutput output) {
        fails(List.of(), "spring.config.name=mistaken");

        assertThat(output)
                .contains("ratelimit.policies.login.limit: '10' has no period")
                .contains("mistaken.yml")
                .contains("4:");
    }

    @Test
    @DisplayName("F5 a policy that is written twice is reported with both places")
    void policy_twice_isReportedWithBothPlaces(CapturedOutput output) {
        fails(List.of(), "spring.config.name=twice");
        fails(List.of(), "spring.config.name=spelt-twice");

        assertThat(output)
                .contains("found duplicate key login")
                .contains("line 3")
                .contains("line 5");
        assertThat(output)
                .contains("'perUser' and 'per-user' are the same name to Spring Boot")
                .contains("4:14")
                .contains("6:14");
    }

    @Test
    @DisplayName("F9 an invalid pattern is reported with the position; blanks at its ends are dropped")
    void pattern_unreadable_isReportedWithACaret(CapturedOutput output) {
        String limit = "ratelimit.policies.login.limit=1/hour";
        fails(List.of(), limit, "ratelimit.policies.login.match.paths=/a/{b");

        assertThat(output).contains("      /a/{b\n      ").containsPattern("      +\\^");
        RunningApp app = RunningApp.start(List.of(), limit, "ratelimit.policies.login.match.paths= /actuator/health ");
        try (app) {
            assertThat(app.get("/actuator/health").status()).isEqualTo(200);
            assertThat(app.get("/actuator/health").status()).isEqualTo(429);
        }
    }

    @Test
    void policy_inBrackets_isAnotherThanOneWithoutItsDots() {
        RunningApp app = RunningApp.start(
                List.of(), "ratelimit.policies.login.limit=9/s", "ratelimit.policies[log.in].limit=9/s");
        try (app) {
            assertThat(app.get("/").header("RateLimit")).isNull();
            app.awaitCounted("log.in", "admitted", 1);
        }
    }
}

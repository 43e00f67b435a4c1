package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

@ExtendWith(OutputCaptureExtension.class)
class WrittenNamesTest {

    /** Checks before binding, as applications do. */
    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(RateLimitProperties.class)
    static class Checking {
        @Bean
        static BeanFactoryPostProcessor check(Environment environment) {
            return beans -> WrittenProperties.check(environment);
        }
    }

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(Checking.class);

    private static ApplicationContextRunner with(ApplicationContextRunner runner, String name, String value) {
        return runner.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        new SystemEnvironmentPropertySource(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, Map.of(name, value))));
    }

    private ApplicationContextRunner beside(String... properties) {
        return runner.withPropertyValues("ratelimit.policies.per-user.limit=5/minute")
                .withPropertyValues(properties);
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_POLICIES_LOGIN_LIMITT, did you mean 'limit'?",
        "RATELIMIT_POLICIES_LOGIN_SHADOW, correct it",
        "RATELIMIT_POLICIES_PERUSERS_MATCH_PATH, did you mean 'paths'?",
        "RATELIMIT_POLICIES_PER_USERS_LIMIT, correct it",
        "RATELIMIT_POLICES_LOGIN_LIMIT, did you mean 'policies'?",
        "RATELIMIT_POLICYS_LOGIN, did you mean 'policies'?"
    })
    void variable_misspelt_stopsTheStartWithoutItsValue(String variable, String remedy) {
        for (ApplicationContextRunner some : new ApplicationContextRunner[] {runner, beside()}) {
            with(some, variable, "s3cret")
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasMessageStartingWith(
                                    "environment variable " + variable + ": no property has this name; ")
                            .hasMessageContaining(remedy)
                            .hasMessageNotContaining("s3cret"));
        }
    }

    private static ApplicationContextRunner prefixed(ApplicationContextRunner runner, Map<String, Object> variables) {
        return runner.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        new PrefixedEnvironment(variables)));
    }

    @Test
    void variable_misspeltWithAPrefix_stopsTheStart() {
        prefixed(beside(), Map.of("MY_RATELIMIT_POLICIES_LOGIN_LIMITT", "5/minute"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith("environment variable MY_RATELIMIT_POLICIES_LOGIN_LIMITT: ")
                        .hasMessageContaining("did you mean 'limit'?"));
    }

    @Test
    void variable_rightWithAPrefix_isRead(CapturedOutput output) {
        prefixed(beside(), Map.of("MY_RATELIMIT_POLICIES_LOGIN_LIMIT", "5/minute", "RATELIMIT_IMAGE_TAG", "x"))
                .run(context -> assertThat(
                                context.getBean(RateLimitProperties.class).policies())
                        .containsOnlyKeys("per-user", "login"));

        assertThat(output).doesNotContain("do not read");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RATELIMIT_POLICIES_LOGIN_LIMIT", "RATELIMIT_POLICIES_LOGIN_LIMITT"})
    void variable_inAFile_stopsTheStartUnlessThePropertyHasAValue(String name) {
        ApplicationContextRunner file = beside().withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .addLast(new MapPropertySource("secrets", Map.of(name, "5/minute"))));

        file.run(context -> assertThat(context)
                .getFailure()
                .hasMessageStartingWith("property " + name + " of secrets: Spring Boot reads such a name only from"));
        file.withPropertyValues("ratelimit.policies.login.limit=${RATELIMIT_POLICIES_LOGIN_LIMIT:6/minute}")
                .run(context -> assertThat(context.getStartupFailure() == null).isEqualTo(name.endsWith("LIMIT")));
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_TRUSTED_PROXYS, did you mean 'trusted-proxies'?",
        "RATELIMIT_TRUSTEDPROXY, did you mean 'trusted-proxies'?",
        "RATELIMIT_STORE_REDIS_DEADLIN, did you mean 'deadline'?",
        "RATELIMIT_ENABLE, did you mean 'enabled'?",
        "RATELIMIT_STORAGE_URI, did you mean 'store'?",
        "RATE_LIMIT_ENABLED, Spring Boot reads RATELIMIT_ENABLED",
        "RATE_LIMIT_TRUSTED_PROXIES_0, Spring Boot reads RATELIMIT_TRUSTED_PROXIES_0"
    })
    void variable_nearAProperty_isWarnedOf(String variable, String remedy, CapturedOutput output) {
        with(beside(), variable, "s3cret").run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getOut().lines())
                .filteredOn(
                        line -> line.contains("Rate limits do not read the environment variable " + variable + ": "))
                .singleElement()
                .asString()
                .contains("WARN", remedy)
                .doesNotContain("s3cret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POLICIES_T_LIMIT",
                "POLICIES_PER_USER_LIMIT",
                "POLICIES_T",
                "POLICIES_T_MATCH_EXCEPT_PATHS_0",
                "POLICIES_T_OVERRIDES_SOME_BODY"
            })
    void variable_ofAPolicyBelowRate_limit_stopsTheStart(String name) {
        with(beside(), "RATE_LIMIT_" + name, "5/minute")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessage("environment variable RATE_LIMIT_" + name + ": Spring Boot reads RATELIMIT_" + name
                                + "; rename it"));
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_TRUSTED_PROXIES, trusted-proxies[0]",
        "RATELIMIT_TRUSTEDPROXIES, trusted-proxies[0]",
        "RATELIMIT_TRUSTED_PROXIES_0, trusted-proxies",
        "RATELIMIT_TRUSTED_PROXIES_1, trusted-proxies[0]",
        "RATELIMIT_EXEMPT_ADDRESSES, exempt.addresses[0]"
    })
    void variable_ofAListThatAHigherSourceHasInAnotherForm_isRight(
            String variable, String property, CapturedOutput output) {
        with(beside("ratelimit." + property + "=10.0.0.1"), variable, "10.0.0.2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("do not read");
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_POLICIES_LOGIN_MATCH_EXCEPT_PATHS, except-paths[0]",
        "RATELIMIT_POLICIES_LOGIN_MATCH_EXCEPTPATHS_3, except-paths",
        "RATELIMIT_POLICIES_LOGIN_MATCH_PATHS_0, paths"
    })
    void variable_ofAPolicysListThatAHigherSourceHasInAnotherForm_isRight(String variable, String property) {
        with(
                        beside(
                                "ratelimit.policies.login.limit=5/minute",
                                "ratelimit.policies.login.match." + property + "=/x"),
                        variable,
                        "/y")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimit.trusted-proxies", "ratelimit.trustedProxies[1]"})
    void systemProperty_ofAListThatAHigherSourceHasInAnotherForm_isRight(String property, CapturedOutput output) {
        beside("ratelimit.trusted-proxies[0]=10.0.0.1")
                .withSystemProperties(property + "=10.0.0.2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("do not read");
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_POLICIES_LOGIN_LIMIT, 5/minute",
        "RATELIMIT_POLICIES_PER_USER_LIMIT, 5/minute",
        "RATELIMIT_POLICIES_LOGIN, 5/minute",
        "RATELIMIT_TRUSTED_PROXIES, 10.0.0.1",
        "RATELIMIT_TRUSTEDPROXIES_0, 10.0.0.1",
        "RATELIMIT_STORE_REDIS_LEASE_MAX_AGE, 1s",
        "RATELIMIT_HEADERS, none"
    })
    void variable_thatIsRead_isRight(String variable, String value) {
        with(beside(), variable, value).run(context -> assertThat(context).hasNotFailed());
        with(beside("ratelimit.trusted-proxies=10.0.0.2", "ratelimit.store.redis.lease.max-age=2s"), variable, value)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_IMAGE_TAG",
                "RATELIMIT_API_TOKEN",
                "RATELIMIT_STORE_PASSWORD",
                "RATELIMIT_SERVICE_HOST",
                "RATELIMIT_SERVICE_PORT_HTTP",
                "RATELIMIT_PORT",
                "RATELIMIT_PORT_8080_TCP_ADDR",
                "RATELIMIT",
                "RATELIMIT__",
                "RATELIMITED_BY",
                "RATE_LIMIT_REDIS_URL",
                "RATE_LIMIT_HEADER",
                "RATE_LIMIT_POLICY",
                "RATE_LIMIT_POLICIES",
                "RATE_LIMIT_POLICES_LOGIN_LIMIT",
                "RATE_LIMIT_RESPONSE_CODE"
            })
    void variable_ofOthers_isLeftAlone(String variable, CapturedOutput output) {
        with(beside(), variable, "x").run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("do not read");
    }

    @Test
    void systemProperty_withoutAWord_isOurGroup() {
        beside().withSystemProperties("RATELIMIT__=x")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith("ratelimit: takes no value of its own"));
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.polices.login.limit, did you mean 'policies'?",
        "ratelimit.policies.login.limitt, did you mean 'limit'?",
        "rate-limit.policies[a b].limitt, did you mean 'limit'?"
    })
    void systemProperty_misspelt_stopsTheStart(String property, String remedy) {
        beside().withSystemProperties(property + "=5/minute")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith("system property " + property + ": no property has this name; ")
                        .hasMessageContaining(remedy));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_POLICIES_LOGIN_LIMIT",
                "ratelimit_policies_login_limit",
                "RATELIMIT_POLICIES_PERUSER_LIMIT",
                "RATELIMIT_POLICIES_PER_USER_LIMIT"
            })
    void systemProperty_withTheNameOfAVariable_stopsTheStart(String property) {
        beside().withSystemProperties(property + "=5/minute")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith("system property " + property
                                + ": Spring Boot reads such a name only from the environment; write it with dots"));
    }

    @Test
    void systemProperty_thatAPlaceholderRefersTo_isRight() {
        beside("ratelimit.policies.login.limit=${RATELIMIT_POLICIES_LOGIN_LIMIT}")
                .withSystemProperties("RATELIMIT_POLICIES_LOGIN_LIMIT=5/minute")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void variable_inAFileBesideAValue_stopsTheStart() {
        beside("ratelimit.policies.login.limit=6/minute")
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(
                                new MapPropertySource("secrets", Map.of("RATELIMIT_POLICIES_LOGIN_LIMIT", "5/minute"))))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageStartingWith(
                                "property RATELIMIT_POLICIES_LOGIN_LIMIT of secrets: Spring Boot reads"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.login.limit=5/minute",
                "rate-limit.policies.login.limit=5/minute",
                "ratelimit.policies[a.b].limit=5/minute",
                "ratelimit.trustedProxies=10.0.0.1"
            })
    void systemProperty_thatIsRead_isRight(String property) {
        runner.withSystemProperties(property).run(context -> assertThat(context).hasNotFailed());
    }
}

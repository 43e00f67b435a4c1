package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.env.MockEnvironment;

/** Properties in places where Spring Boot would ignore them, or read something else. */
@ExtendWith(OutputCaptureExtension.class)
class MisplacedPropertiesTest {

    private final MockEnvironment environment = new MockEnvironment();

    private void check() {
        ConfigurationPropertySources.attach(environment);
        WrittenProperties.check(environment);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimits.policies.login.limit | write ratelimit.policies.login.limit",
                "rate-limiter.policies.login.key | write ratelimit.policies.login.key",
                "ratelimits.policies.login | write ratelimit.policies.login",
                "spring.ratelimit.policies.login.limit | move ratelimit to the top level, out of 'spring'"
            })
    void check_policyElsewhere_isReported(String name, String remedy) {
        environment.setProperty(name, "3/minute");

        assertThatThrownBy(this::check)
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining(remedy);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "limits.policies.login.limit",
                "ratelimits.policies.login.colour",
                "ratelimits.enabled",
                "zuul.ratelimit.policies.login.limit",
                "spring.policies.login.limit",
                "ratelimits.policies"
            })
    void check_policyOfSomebodyElse_isLeftAlone(String name) {
        environment.setProperty(name, "3/minute");

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "policies.login.limit | 3/minute | Did you mean ratelimit.policies.login.limit?",
                "policies.login.limit[0] | 3/minute | Did you mean ratelimit.policies.login.limit[0]?",
                "policies.login | 3/minute; 5/hour | Did you mean ratelimit.policies.login?",
                "spring.policies.login.limit | 3/minute | Did you mean ratelimit.policies.login.limit?",
                "app.ratelimit.policies.login.limit | 3/minute | Did you mean ratelimit.policies.login.limit?",
                "rate.limit.policies.login.limit | 3/minute | Did you mean ratelimit.policies.login.limit?"
            })
    void check_limitWithoutOurRoot_isWarnedOf(String name, String value, String warning, CapturedOutput output) {
        environment.setProperty(name, value);

        check();

        assertThat(output).contains(name + " looks like a rate limit").contains(warning);
    }

    @ParameterizedTest
    @CsvSource({"policies.login.limit, 10", "policies.login.key, user", "zuul.ratelimit.policies.login.limit, 10"})
    void check_otherPolicies_areNotWarnedOf(String name, String value, CapturedOutput output) {
        environment.setProperty(name, value);

        check();

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void check_limitWithoutOurRootBesideOurs_isNotWarnedOf(CapturedOutput output) {
        environment.setProperty("ratelimit.policies.login.limit", "3/minute");
        environment.setProperty("policies.login.limit", "3/minute");

        check();

        assertThat(output).doesNotContain("WARN");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.store.redis.local-share | 0.5 | ratelimit.store.redis.* has no effect without ratelimit.store.type: budgets are in the memory of each instance. Write ratelimit.store.type: redis, or memory",
                "ratelimit.store.redis.lease.fraction | 0.5 | ratelimit.store.redis.lease.* has no effect without ratelimit.store.redis.mode: there are no leases. Write ratelimit.store.redis.mode: leased"
            })
    void check_propertyWithoutEffect_isWarnedOf(String name, String value, String warning, CapturedOutput output) {
        environment.setProperty(name, value);

        check();

        assertThat(output).contains("WARN").contains(warning);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "redis"})
    void check_settingsOfAStoreThatIsNamed_areNotWarnedOf(String type, CapturedOutput output) {
        environment.setProperty("ratelimit.store.type", type);
        environment.setProperty("ratelimit.store.redis.local-share", "0.5");

        check();

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void check_similarRootBesideOurs_isLeftAlone() {
        environment.setProperty("ratelimit.policies.login.limit", "3/minute");
        environment.setProperty("ratelimiter.policies.login.limit", "3/minute");

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.store | redis | such as ratelimit.store.type: redis",
                "ratelimit.policies.login.on-exceeded | wait | such as ratelimit.policies.login.on-exceeded.action: wait",
                "ratelimit.policies.login.retry-jitter | 0s | write properties below it: min, max"
            })
    void check_valueOfAGroup_isReportedWithWhatBelongsThere(String name, String value, String remedy) {
        environment.setProperty(name, value);

        assertThatThrownBy(this::check).hasMessageContaining(remedy);
    }

    @ParameterizedTest
    @CsvSource({"login.paths, match.paths", "login.except-paths, match.except-paths", "login.limits, limit"})
    void unknown_propertyOfTheLevelBelow_isNamed(String written, String meant) {
        environment.setProperty("ratelimit.policies." + written, "3/minute");
        ConfigurationPropertySources.attach(environment);

        assertThatThrownBy(() -> Binder.get(environment, new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
                        .bind("ratelimit", RateLimitProperties.class))
                .satisfies(failure -> assertThat(new ConfigurationFailureAnalyzer(environment).analyze(failure))
                        .extracting(FailureAnalysis::getDescription)
                        .asString()
                        .contains("did you mean '" + meant + "'?"));
    }
}

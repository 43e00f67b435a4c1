package dev.ratelimit.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.version.Boot;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.core.env.StandardEnvironment;

class RateLimitWithoutStackAutoConfigurationTest {

    @Test
    void servletApplication_withPolicies_failsTheStart() {
        StandardEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of("ratelimit.policies.a.limit=1/minute").applyTo(environment);

        assertThatThrownBy(() -> new RateLimitWithoutStackAutoConfiguration.Servlet(
                        environment, new DefaultListableBeanFactory()))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining("use " + Boot.MODULES + "-starter instead");
    }
}

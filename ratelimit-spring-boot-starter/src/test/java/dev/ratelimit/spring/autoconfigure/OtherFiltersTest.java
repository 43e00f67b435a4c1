package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import jakarta.servlet.Filter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Whether anybody may know the caller. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class OtherFiltersTest {

    private static final String[] BY_PRINCIPAL = {
        "ratelimit.policies.a.limit=5/second",
        "ratelimit.policies.a.key=principal",
        "ratelimit.policies.a.missing-key=skip"
    };

    @Configuration(proxyBeanMethods = false)
    static class Gatekeeper {

        @Bean
        Filter gatekeeper() {
            return (request, response, chain) -> chain.doFilter(request, response);
        }
    }

    @Test
    void principal_whomNobodyAuthenticates_isWarnedOf(CapturedOutput output) {
        RunningApp.start(List.of(), BY_PRINCIPAL).close();

        assertThat(output)
                .contains("Rate limit 'a' is by principal, but neither Spring Security nor a filter of the application"
                        + " authenticates callers; unless the server does, it limits nobody");
    }

    @ParameterizedTest
    @ValueSource(classes = {Gatekeeper.class, RunningApp.WithSecurity.class})
    void principal_whomSomebodyMayAuthenticate_isNotWarnedOf(Class<?> authenticating, CapturedOutput output) {
        RunningApp.start(List.of(authenticating), BY_PRINCIPAL).close();

        assertThat(output).doesNotContain("authenticates callers");
    }

    @Test
    void user_whomNobodyAuthenticates_hasAnAddress(CapturedOutput output) {
        RunningApp.start(List.of(), "ratelimit.policies.a.limit=5/second", "ratelimit.policies.a.key=user")
                .close();

        assertThat(output).doesNotContain("authenticates callers");
    }
}

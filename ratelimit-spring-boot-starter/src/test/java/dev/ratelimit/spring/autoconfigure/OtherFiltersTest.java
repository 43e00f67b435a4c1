package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
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
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

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

    @RestController
    static class Costs {

        @GetMapping("/costs")
        @RateLimited(value = "5/second", name = "own", cost = "#request.isUserInRole('X') ? 1 : 2")
        @RateLimited(policy = "a", cost = "#request.remoteUser == null ? 1 : 2")
        String page() {
            return "";
        }
    }

    @Test
    void caller_inConditionsKeysAndCosts_isWarnedOf(CapturedOutput output) {
        RunningApp.start(
                        List.of(Costs.class),
                        "ratelimit.exempt.when=#principal == null",
                        "ratelimit.policies.a.limit=5/second",
                        "ratelimit.policies.a.key=#principal?.name",
                        "ratelimit.policies.a.match.when=#request.isUserInRole('X')",
                        "ratelimit.policies.a.permits=#principal == null ? 2 : 1",
                        "ratelimit.policies.b.limit=5/second",
                        "ratelimit.policies.b.key=#request.getHeader('X-Tenant')",
                        "ratelimit.policies.b.match.when=#request.method == 'POST'",
                        "ratelimit.policies.b.permits=#request.contentLength + 2")
                .close();

        String unknown =
                ", but neither Spring Security nor a filter of the application authenticates callers; unless the"
                        + " server does, #principal is null for everybody, and nobody has a role";
        assertThat(output)
                .containsOnlyOnce("ratelimit.exempt.when: #principal == null is about the caller" + unknown)
                .containsOnlyOnce("Rate limit 'a' is by #principal?.name" + unknown)
                .containsOnlyOnce("Rate limit 'a' applies when #request.isUserInRole('X')" + unknown)
                .containsOnlyOnce("Rate limit 'a' takes #principal == null ? 2 : 1 permits each" + unknown)
                .containsOnlyOnce("Rate limit 'a' takes #request.remoteUser == null ? 1 : 2 permits each" + unknown)
                .containsOnlyOnce("Rate limit 'own' takes #request.isUserInRole('X') ? 1 : 2 permits each" + unknown)
                .doesNotContain("'b' is", "'b' applies", "'b' takes");
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

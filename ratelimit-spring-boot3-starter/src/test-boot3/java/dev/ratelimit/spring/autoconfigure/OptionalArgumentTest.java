package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.Contexts;
import dev.ratelimit.spring.RateLimited;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Expressions do not reach into an Optional before Spring Framework 7, and would fail at each request. */
class OptionalArgumentTest {

    @RestController
    static class Api {

        @GetMapping("/optional")
        @RateLimited(value = "10/hour", key = "ip", cost = "#name?.length() ?: 1")
        String optional(@RequestParam Optional<String> name) {
            return name.orElse("nobody");
        }
    }

    @Test
    void costByAnOptionalArgument_isReported() {
        Contexts.withoutServer()
                .withUserConfiguration(Api.class)
                .run(context -> assertThat(context).getFailure().hasMessageContaining("#name has no method length"));
    }
}

package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Expressions reach into an Optional since Spring Framework 7. */
@Tag("servers")
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
    void costByAnOptionalArgument_isThatOfItsValue() {
        try (RunningApp app = RunningApp.start(List.of(Api.class))) {
            assertThat(app.get("/optional?name=seventy").status()).isEqualTo(200);
            assertThat(app.get("/optional?name=four").status()).isEqualTo(429);
            assertThat(app.get("/optional").body()).isEqualTo("nobody");
        }
    }
}

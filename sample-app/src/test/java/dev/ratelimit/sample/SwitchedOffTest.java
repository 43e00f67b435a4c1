package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** For tests that are not about limits. */
@SpringBootTest(properties = "ratelimit.enabled=false")
@AutoConfigureMockMvc
@Tag("servers")
class SwitchedOffTest {

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private RateLimiter limiter;

    @Test
    void disabled_limitsNothing_andLeavesTheBeans() {
        for (int i = 0; i < 10; i++) {
            assertThat(mvc.post().uri("/api/login").param("user", "eve").param("password", "guess"))
                    .hasStatus(401);
        }
        assertThat(limiter).isNotNull();
    }
}

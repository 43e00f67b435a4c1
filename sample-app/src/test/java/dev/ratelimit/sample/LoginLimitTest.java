package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
class LoginLimitTest {

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private FakeTicker ticker;

    @Test
    void login_sixthInAMinute_isRefusedForTwelveSeconds() {
        for (int i = 0; i < 5; i++) {
            assertThat(login()).hasStatus(HttpStatus.UNAUTHORIZED);
        }
        ticker.advance(Duration.ofMillis(11_999));
        assertThat(login()).hasStatus(HttpStatus.TOO_MANY_REQUESTS);

        ticker.advance(Duration.ofMillis(1));

        assertThat(login()).hasStatus(HttpStatus.UNAUTHORIZED);
    }

    private MvcTestResult login() {
        return mvc.post()
                .uri("/api/login")
                .param("user", "alice")
                .param("password", "guess")
                .exchange();
    }
}

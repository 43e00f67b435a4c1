package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** A slice with one controller also has its limits. */
@WebMvcTest(
        controllers = ProductController.class,
        properties = {"ratelimit.policies.global.limit=2/hour", "ratelimit.policies.global.burst=2"})
@WithFakeTicker
class ProductControllerTest {

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private FakeTicker ticker;

    @Test
    void product_beyondTheGlobalLimit_isRefused() {
        assertThat(mvc.get().uri("/api/products/1")).hasStatusOk();
        assertThat(mvc.get().uri("/api/products/1")).hasStatusOk();
        assertThat(mvc.get().uri("/api/products/1")).hasStatus(429);

        ticker.advance(Duration.ofMinutes(30));

        assertThat(mvc.get().uri("/api/products/1")).hasStatusOk();
    }
}

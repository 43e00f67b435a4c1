package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** The README's examples, with MockMvc and a fake clock. */
@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
@Tag("servers")
class SampleApplicationTest {

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private FakeTicker ticker;

    private MvcTestResult get(String path) {
        return mvc.get().uri(path).exchange();
    }

    private MvcTestResult login(String user, String password) {
        return mvc.post()
                .uri("/api/login")
                .param("user", user)
                .param("password", password)
                .exchange();
    }

    @Test
    void product_showsTheCallerItsOwnBudget() {
        assertThat(get("/api/products/1"))
                .hasStatusOk()
                .hasHeader("RateLimit-Policy", "\"per-user\";q=800;w=80")
                .hasHeader("RateLimit", "\"per-user\";r=799;t=1")
                .bodyJson()
                .extractingPath("name")
                .isEqualTo("Kettle");
        assertThat(get("/api/products")).hasStatusOk();
        assertThat(get("/api/products/9")).hasStatus(404);
    }

    @Test
    void product_beyondTheBurst_isRefusedUntilRetryAfter() {
        for (int i = 0; i < 800; i++) {
            assertThat(get("/api/products/" + (1 + i % 3))).hasStatusOk();
        }

        MvcTestResult refused = get("/api/products/1");

        assertThat(refused)
                .hasStatus(429)
                .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                .hasHeader("Cache-Control", "no-store");
        assertThat(refused).bodyJson().extractingPath("violated-policies").isEqualTo(List.of("per-user"));
        int retryAfter = Integer.parseInt(String.valueOf(refused.getResponse().getHeader("Retry-After")));
        assertThat(retryAfter).isBetween(1, 2);
        ticker.advance(Duration.ofSeconds(retryAfter));
        assertThat(get("/api/products/1")).hasStatusOk();
    }

    @Test
    void prometheus_readsTheMeters() {
        get("/api/products/1");

        MvcTestResult scraped = get("/actuator/prometheus");

        assertThat(scraped)
                .hasStatusOk()
                .bodyText()
                .contains(
                        "ratelimit_requests_total{outcome=\"admitted\",policy=\"per-user\"} ",
                        "ratelimit_decision_seconds_count{store=\"memory\"} ",
                        "ratelimit_changed{policy=\"per-user\"} 0.0",
                        "http_server_requests_seconds_count{");
    }

    @Test
    void login_fiveAttemptsAMinute_whateverTheName() {
        for (String name : new String[] {"eve", "mallory", "trudy", "oscar"}) {
            assertThat(login(name, "guess")).hasStatus(401);
        }
        assertThat(login("alice", "wonderland")).hasStatus(204);

        assertThat(login("alice", "wonderland")).hasStatus(429);
        ticker.advance(Duration.ofSeconds(12));
        assertThat(login("alice", "wonderland")).hasStatus(204);
    }

    @Test
    void report_takesTenPermits() {
        for (int i = 0; i < 10; i++) {
            assertThat(get("/api/reports/7")).hasStatusOk();
        }

        assertThat(get("/api/reports/8")).hasStatus(429);
    }

    @Test
    void exports_beyondTwoAtOnce_areRefused() {
        assertThat(mvc.get().uri("/api/exports/1").asyncExchange()).hasStatusOk();
        assertThat(mvc.get().uri("/api/exports/2").asyncExchange()).hasStatusOk();

        assertThat(get("/api/exports/3")).hasStatus(429);
    }

    @Test
    void page_isServed() {
        assertThat(get("/")).hasStatusOk().hasForwardedUrl("index.html");
        assertThat(get("/index.html")).hasStatusOk().bodyText().contains("Rate limits at work");
    }

    @Test
    void stock_laterOrBitByBit_isChargedOnce() {
        assertThat(get("/api/stock/1")).hasStatusOk().hasHeader("RateLimit", "\"per-user\";r=799;t=1");
        assertThat(get("/api/stock/1")).hasHeader("RateLimit", "\"per-user\";r=798;t=1");
        assertThat(get("/api/stock/1/changes")).hasStatusOk().bodyText().isEqualTo("1: 12\n1: 11\n1: 10\n");
        assertThat(get("/api/stock/1/changes")).hasHeader("RateLimit", "\"per-user\";r=798;t=1");
    }
}

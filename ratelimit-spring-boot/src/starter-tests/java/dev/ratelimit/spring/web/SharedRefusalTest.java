package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.OnlyOn;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.Stack;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests that wait for the same result of a limited call, and are refused together. */
@Tag("servers")
class SharedRefusalTest extends AppPerTest {

    /** Refuses its second call. */
    @Component
    static class Reports {

        @RateLimited("1/hour")
        public String create() {
            return "report";
        }
    }

    /** Gives all callers the same report. */
    @RestController
    static class Api {

        private final Reports reports;
        private CompletableFuture<String> shared = new CompletableFuture<>();

        Api(Reports reports) {
            this.reports = reports;
        }

        @GetMapping("/create")
        synchronized String create() {
            return reports.create();
        }

        @GetMapping("/report")
        synchronized CompletableFuture<String> report() {
            if (!shared.isDone()) {
                try {
                    shared.complete(reports.create());
                } catch (RateLimitExceededException e) {
                    shared.completeExceptionally(e);
                }
            }
            return shared;
        }
    }

    @Test
    @OnlyOn(value = Stack.SERVLET, difference = "Methods that return their result at once")
    void refusal_showsEachCallerItsOwnLimits() {
        start(List.of(Api.class, Reports.class), "p.limit=9/hour", "p.key=header:X-Id");
        assertThat(app.get("/create", "X-Id: a").status()).isEqualTo(200);
        RawResponse first = app.get("/report", "X-Id: a");

        RawResponse second = app.get("/report", "X-Id: b");

        assertThat(first.status()).isEqualTo(429);
        assertThat(first.header("RateLimit")).contains("\"p\";r=7").contains("Reports.create");
        assertThat(second.status()).isEqualTo(429);
        assertThat(second.header("RateLimit")).contains("\"p\";r=8");
        assertThat(second.body()).contains("Limit 'Reports.create' of 1 per hour is exceeded");
    }
}

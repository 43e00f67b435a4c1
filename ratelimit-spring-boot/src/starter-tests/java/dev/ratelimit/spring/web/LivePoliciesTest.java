package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.spring.Contexts;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The bean that knows the policies, in applications. */
@Tag("servers")
class LivePoliciesTest {

    @RestController
    static class Pages {

        @GetMapping("/search")
        @RateLimited(policy = "work", permits = 5)
        String search() {
            return "hits";
        }

        @GetMapping("/page")
        @RateLimited("3/hour")
        String page() {
            return "page";
        }
    }

    @Test
    void change_onARunningServer_appliesToRulesAndAnnotations() {
        try (RunningApp app = RunningApp.start(
                List.of(Pages.class), "ratelimit.policies.work.limit=10/hour", "ratelimit.policies.work.key=ip")) {
            RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
            assertThat(policies.names()).containsExactly("Pages.page", "work");
            assertThat(app.get("/search").status()).isEqualTo(200);
            assertThat(app.get("/search").status()).isEqualTo(200);
            assertThat(app.get("/search").status()).isEqualTo(429);

            policies.change("work", RateLimitChange.toMode(Mode.OFF));
            assertThat(app.get("/search").status()).isEqualTo(200);
            policies.restore("work");
            assertThat(app.get("/search").status()).isEqualTo(429);

            policies.change("work", RateLimitChange.toLimit("15/hour"));
            policies.reset("work", "127.0.0.1");
            assertThat(app.bean(RateLimiter.class).tryAcquire(policies.charge("work", "127.0.0.1")))
                    .isTrue();
            assertThat(app.get("/search").status()).isEqualTo(200);
            assertThat(policies.state("work", "127.0.0.1"))
                    .extracting(LimitStatus::remaining)
                    .containsExactly(9L);
        }
    }

    @Test
    @DisplayName("B10 limits change while requests are charged: each request sees the old ones or the new ones, no mix")
    void change_whileRequestsAreCharged_isSeenWholeOrNotAtAll() throws Exception {
        List<String> limits = List.of("600/hour; 6000/day", "700/hour; 7000/day");
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "ratelimit.policies.work.limit=" + limits.get(0),
                "ratelimit.policies.work.key=ip",
                // thousands of changes, and each would be logged
                "logging.level.dev.ratelimit.spring.rules=error")) {
            RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
            AtomicBoolean over = new AtomicBoolean();
            ExecutorService operator = Executors.newSingleThreadExecutor();
            Future<?> changes = operator.submit(() -> {
                for (int i = 0; !over.get(); i++) {
                    policies.change("work", RateLimitChange.toLimit(limits.get(i % 2)));
                }
            });

            Set<String> seen = new HashSet<>();
            for (int i = 0; i < 300; i++) {
                RawResponse response = app.get("/orders/1");
                assertThat(response.status()).isEqualTo(200);
                seen.add(response.header("RateLimit-Policy"));
            }
            over.set(true);
            changes.get();
            operator.shutdown();

            assertThat(seen)
                    .isSubsetOf(
                            "\"work/3600\";q=600;w=3600, \"work/86400\";q=6000;w=86400",
                            "\"work/3600\";q=700;w=3600, \"work/86400\";q=7000;w=86400");
        }
    }

    @Test
    void policies_whileLimitsAreDisabled_areThoseOfTheConfiguration() {
        Contexts.withoutServer()
                .withPropertyValues("ratelimit.enabled=false", "ratelimit.policies.mail.limit=3/hour")
                .run(context -> assertThat(
                                context.getBean(RateLimitPolicies.class).names())
                        .containsExactly("mail"));
    }

    @Test
    void mistakes_whileLimitsAreDisabled_doNotStopTheStart() {
        Contexts.withoutServer()
                .withPropertyValues("ratelimit.enabled=false", "ratelimit.policies.mail.limit=3/eternity")
                .run(context -> assertThat(context).hasNotFailed());
    }
}

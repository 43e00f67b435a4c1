package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** {@code @RateLimited} on controllers, over HTTP. */
class AnnotationTest {

    @RateLimited(key = "header:X-Tenant")
    @Retention(RetentionPolicy.RUNTIME)
    @interface PerTenant {
        @AliasFor(annotation = RateLimited.class, attribute = "value")
        String limit();
    }

    interface Declared {
        @GetMapping("/declared")
        @RateLimited("1/hour")
        String declared();
    }

    @RestController
    static class MethodsController implements Declared {

        @GetMapping("/two/{id}")
        @RateLimited("2/hour")
        String two(@PathVariable String id) {
            return id;
        }

        @GetMapping("/repeated")
        @RateLimited(value = "3/hour", key = "header:X-Tenant")
        @RateLimited(value = "4/hour", key = "ip")
        String repeated() {
            return "repeated";
        }

        @GetMapping("/tenant")
        @PerTenant(limit = "1/hour")
        String tenant() {
            return "tenant";
        }

        @GetMapping("/report")
        @RateLimited(policy = "reports", permits = 10)
        String report() {
            return "report";
        }

        @GetMapping("/off")
        @RateLimited(value = "1/hour", mode = Mode.OFF)
        String off() {
            return "off";
        }

        @Override
        public String declared() {
            return "declared";
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }
    }

    @RestController
    @RateLimited("1/hour")
    static class ClassController {

        @GetMapping("/class/a")
        String a() {
            return "a";
        }

        @GetMapping("/class/b")
        String b() {
            return "b";
        }

        @GetMapping("/class/own")
        @RateLimited("2/hour")
        String own() {
            return "own";
        }
    }

    private static RunningApp app;

    @BeforeAll
    static void start() {
        app = RunningApp.start(
                List.of(MethodsController.class, ClassController.class),
                "ratelimit.policies.reports.limit=20/hour",
                "ratelimit.policies.reports.key=user",
                "ratelimit.policies.reports.match.annotated=true");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static int admitted(String path, String... headers) {
        int admitted = 0;
        while (admitted < 20 && app.get(path, headers).status() == 200) {
            admitted++;
        }
        return admitted;
    }

    @Test
    void onMethod_limitsTheEndpoint_whateverThePath() {
        assertThat(admitted("/two/1")).isEqualTo(2);

        RawResponse refused = app.get("/two/2");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).contains("\"violated-policies\":[\"MethodsController.two\"]");
        assertThat(app.get("/plain").status()).isEqualTo(200);
        assertThat(app.get("/plain").header("RateLimit")).isNull();
    }

    @Test
    void repeated_allApply() {
        assertThat(admitted("/repeated", "X-Tenant: a")).isEqualTo(3);
        assertThat(admitted("/repeated", "X-Tenant: b")).isEqualTo(1);
    }

    @Test
    void metaAnnotation_passesItsAttributesOn() {
        assertThat(admitted("/tenant", "X-Tenant: a")).isEqualTo(1);
        assertThat(admitted("/tenant", "X-Tenant: b")).isEqualTo(1);
    }

    @Test
    void policy_isChargedAtTheAnnotationsPrice() {
        assertThat(admitted("/report")).isEqualTo(2);
    }

    @Test
    void off_limitsNothing() {
        assertThat(admitted("/off")).isEqualTo(20);
    }

    @Test
    void onInterfaceMethod_counts() {
        assertThat(admitted("/declared")).isEqualTo(1);
    }

    @Test
    void onClass_eachMethodHasItsOwnBudget_andMayReplaceIt() {
        assertThat(admitted("/class/a")).isEqualTo(1);
        assertThat(admitted("/class/b")).isEqualTo(1);
        assertThat(admitted("/class/own")).isEqualTo(2);
    }
}

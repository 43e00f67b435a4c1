package dev.ratelimit.spring.autoconfigure;

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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** {@code @RateLimited} on controllers, over HTTP. */
@Tag("servers")
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

        @GetMapping("/restated")
        @RateLimited("1/hour")
        String restated();
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

        @GetMapping("/bundle")
        @RateLimited(policy = "bundles", permits = 3)
        @RateLimited(policy = "bundles", permits = 4)
        String bundle() {
            return "bundle";
        }

        @GetMapping("/twice")
        @RateLimited(policy = "bundles-of-two", permits = 3)
        @RateLimited(policy = "bundles-of-two", permits = 3)
        String twice() {
            return "twice";
        }

        @GetMapping("/off")
        @RateLimited(value = "1/hour", mode = Mode.OFF)
        String off() {
            return "off";
        }

        @Override
        @RateLimited("1/hour")
        public String restated() {
            return "restated";
        }

        @Override
        public String declared() {
            return "declared";
        }

        @GetMapping("/named")
        @RateLimited(value = "${named.limit}", name = "reports ${named.suffix}", key = "${named.key:ip}")
        String named() {
            return "named";
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }
    }

    @RestController
    @RateLimited(value = "1/hour", name = "team")
    static class NamedController {

        @GetMapping("/team/a")
        String a() {
            return "a";
        }

        @GetMapping("/team/b")
        String b() {
            return "b";
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
                List.of(MethodsController.class, ClassController.class, NamedController.class),
                "named.limit=2/hour",
                "named.suffix=by hour",
                "ratelimit.policies.reports.limit=20/hour",
                "ratelimit.policies.reports.key=user",
                "ratelimit.policies.reports.match.annotated=true",
                "ratelimit.policies.bundles.limit=20/hour",
                "ratelimit.policies.bundles.key=user",
                "ratelimit.policies.bundles.match.annotated=true",
                "ratelimit.policies.bundles-of-two.limit=20/hour",
                "ratelimit.policies.bundles-of-two.key=user",
                "ratelimit.policies.bundles-of-two.match.annotated=true");
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
    void name_andPlaceholders_areUsed() {
        assertThat(admitted("/named")).isEqualTo(2);
        assertThat(app.get("/named").body()).contains("\"violated-policies\":[\"reports by hour\"]");
    }

    @Test
    void nameOnClass_replacesTheClassName() {
        assertThat(admitted("/team/a")).isEqualTo(1);
        assertThat(app.get("/team/a").body()).contains("\"violated-policies\":[\"team.a\"]");
        assertThat(admitted("/team/b")).isEqualTo(1);
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
    void policyNamedTwice_isChargedBothPrices() {
        RawResponse first = app.get("/bundle");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("RateLimit")).startsWith("\"bundles\";r=13;");
        assertThat(admitted("/bundle")).isEqualTo(1);
        assertThat(app.get("/bundle").status()).isEqualTo(429);
        assertThat(app.get("/bundle").body()).contains("\"violated-policies\":[\"bundles\"]");
    }

    @Test
    void samePolicyTwiceAtOnePrice_isChargedTheSum() {
        assertThat(app.get("/twice").header("RateLimit")).startsWith("\"bundles-of-two\";r=14;");
    }

    @Test
    void off_limitsNothing() {
        assertThat(admitted("/off")).isEqualTo(20);
    }

    @Test
    void onInterfaceMethodAndItsImplementation_countsOnce() {
        assertThat(app.get("/restated").header("RateLimit-Policy")).doesNotContain("restated-2");
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

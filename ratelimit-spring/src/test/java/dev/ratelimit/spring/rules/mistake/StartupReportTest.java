package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Warnings that depend on what the web stack has. */
@ExtendWith(OutputCaptureExtension.class)
class StartupReportTest {

    private static void report(boolean routes) {
        RateLimitProperties properties = new Binder(new MapConfigurationPropertySource(Map.of(
                        "ratelimit.policies.named.limit", "1/minute",
                        "ratelimit.policies.named.match.annotated", "true",
                        "ratelimit.policies.each.limit", "1/minute",
                        "ratelimit.policies.each.key", "route, user")))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        RequestRules rules = new RequestRules(properties, new DefaultListableBeanFactory(), text -> text, limit -> {});
        rules.enforce(new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest request) {
                return Endpoint.UNMAPPED;
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return false;
            }

            @Override
            public boolean haveRoutes() {
                return routes;
            }
        });
        rules.report(false, "", "");
    }

    @Test
    void keyByRoute_withoutRoutes_isWarnedOf(CapturedOutput output) {
        report(false);

        assertThat(output.getAll())
                .contains(
                        "Rate limit 'each' is by route, user, but nothing here has routes, as Spring Cloud Gateway does;"
                                + " callers are identified by their address instead. Write endpoint in place of route");
    }

    @Test
    void keyByRoute_withRoutes_isNotWarnedOf(CapturedOutput output) {
        report(true);

        assertThat(output.getAll()).contains("'each'").doesNotContain("nothing here has routes");
    }

    @Test
    void policyThatOnlyRoutesMayName_isNotSaidToBeAnnotated(CapturedOutput output) {
        report(true);

        assertThat(output.getAll())
                .contains("Rate limit 'named': 1/minute (token-bucket) shared by all callers, where a route names it")
                .doesNotContain("where annotated");
    }
}

package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.rules.decision.RequestRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The policies that routes name exist: at the start, when routes come later, and when policies change. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
@ExtendWith(OutputCaptureExtension.class)
class GatewayRoutesTest {

    @Configuration(proxyBeanMethods = false)
    static class Order {

        @Bean
        Factories factories(List<GatewayFilterFactory<?>> all) {
            return new Factories(all);
        }
    }

    /** The factories, in the order of the gateway. */
    record Factories(List<GatewayFilterFactory<?>> all) {}

    /** A filter of the application that has the same name. */
    static final class OwnFactory extends AbstractGatewayFilterFactory<Object> {

        OwnFactory() {
            super(Object.class);
        }

        @Override
        public String name() {
            return "RateLimit";
        }

        @Override
        public GatewayFilter apply(Object config) {
            return (exchange, chain) -> {
                exchange.getResponse().getHeaders().set("Own", "yes");
                return chain.filter(exchange);
            };
        }
    }

    private static RoutedApp app;

    @BeforeAll
    static void start() {
        app = RoutedApp.start("""
                spring.cloud.gateway.server.webflux.routes: [{id: open, uri: $SERVICE, predicates: [Path=/open]}]
                ratelimit.policies.orders: {limit: 1/minute, key: ip, match.annotated: true}
                """, Order.class);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    /** Routes of the configuration; nested, as the gateway is not on the class path of all tests. */
    private static final class Written {

        /** Checks a route with this filter, if the application has another one of the same name or not. */
        static void check(String filter, boolean replaced) {
            GatewayProperties properties = new GatewayProperties();
            RouteDefinition route = new RouteDefinition();
            route.setId("one");
            route.setFilters(List.of(new FilterDefinition(filter)));
            properties.setRoutes(List.of(route));
            List<GatewayFilterFactory<?>> factories = new ArrayList<>();
            factories.add(app.app().bean(RateLimitGatewayFilterFactory.class));
            if (replaced) {
                factories.add(new OwnFactory());
            }
            NamedLimits limits = app.app().bean(NamedLimits.class);
            new GatewayRoutes(limits, () -> factories, () -> properties, () -> null).afterSingletonsInstantiated();
        }
    }

    @Test
    void check_ofTheConfiguration_findsMistakes() {
        assertThatNoException().isThrownBy(() -> Written.check("RateLimit=orders", false));
        assertThatNoException().isThrownBy(() -> Written.check("RateLimit=#{@names}", false));
        assertThatThrownBy(() -> Written.check("RateLimit=", false))
                .hasMessage("route one: it names no policy; write the names of those that limit it, of the ones under"
                        + " ratelimit.policies");
        assertThatThrownBy(() -> Written.check("RateLimit=order", false)).hasMessageContaining("did you mean 'orders'");
    }

    @Test
    void filter_ofTheApplication_replacesTheOneOfTheSameName() {
        RateLimitGatewayFilterFactory ours = app.app().bean(RateLimitGatewayFilterFactory.class);

        assertThatNoException().isThrownBy(() -> Written.check("RateLimit=10", true));
        assertThat(app.app().bean(Factories.class).all()).first().isSameAs(ours);
    }

    @Test
    void name_withoutAnyPolicy_isAMistake() {
        NamedLimits limits = new NamedLimits(() -> true, () -> null);

        assertThatThrownBy(() -> limits.ofRoute("one", List.of("orders")))
                .hasMessage("route one: it names a policy, but there is none; write it under ratelimit.policies");
    }

    @Test
    void route_thatComesLater_namesPoliciesThatExist(CapturedOutput output) {
        Later.save(app, "later", "RateLimit=order");
        assertThat(output)
                .contains("route later: names policy 'order' (did you mean 'orders'?), which does not exist; write");
        assertThat(app.status("/open")).isEqualTo(200);
        assertThat(app.status("/later")).isEqualTo(404);

        Later.save(app, "later", "RateLimit=orders");
        assertThat(app.status("/later")).isEqualTo(200);
        assertThat(app.retryAfter("/later")).isEqualTo("60");
        RequestRules rules = app.app().bean(RequestRules.class);
        assertThatThrownBy(() -> rules.read(Map.of(), Map.of())).hasMessageStartingWith("route later: names policy");

        Later.save(app, "later", "StripPrefix=1");
        assertThat(rules.read(Map.of(), Map.of()).rules().byPolicy()).isEmpty();
        assertThat(app.status("/later")).isEqualTo(200);
    }
}

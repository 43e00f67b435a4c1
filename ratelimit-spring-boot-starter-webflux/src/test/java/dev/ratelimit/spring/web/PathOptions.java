package dev.ratelimit.spring.web;

import java.lang.reflect.Method;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.security.web.server.firewall.ServerWebExchangeFirewall;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.config.PathMatchConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** How WebFlux and Spring Security read paths. */
final class PathOptions {

    private PathOptions() {}

    /** Paths in any case. */
    @Configuration(proxyBeanMethods = false)
    static class CaseBlind implements WebFluxConfigurer {

        @Override
        public void configurePathMatching(PathMatchConfigurer configurer) {
            configurer.setUseCaseSensitiveMatch(false);
        }
    }

    /** Paths with a slash at their end, which Spring Framework 6 still has, and 7 has not. */
    @Configuration(proxyBeanMethods = false)
    static class LastSlash implements WebFluxConfigurer {

        @Override
        public void configurePathMatching(PathMatchConfigurer configurer) {
            Method setter =
                    ReflectionUtils.findMethod(PathMatchConfigurer.class, "setUseTrailingSlashMatch", Boolean.class);
            if (setter != null) {
                ReflectionUtils.invokeMethod(setter, configurer, true);
            }
        }
    }

    /** A mapping of the application, which finds nothing; nobody else can tell. */
    @Configuration(proxyBeanMethods = false)
    static class Unreadable {

        static class Unknown implements HandlerMapping, Ordered {

            @Override
            public Mono<Object> getHandler(ServerWebExchange exchange) {
                return Mono.empty();
            }

            @Override
            public int getOrder() {
                return Ordered.HIGHEST_PRECEDENCE;
            }
        }

        @Bean
        Unknown unknown() {
            return new Unknown();
        }
    }

    /** Spring Security rejects no path for how it is written. */
    @Configuration(proxyBeanMethods = false)
    static class NoFirewall {

        @Bean
        ServerWebExchangeFirewall firewall() {
            return ServerWebExchangeFirewall.INSECURE_NOOP;
        }
    }
}

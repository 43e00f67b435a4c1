package dev.ratelimit.spring;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.context.NoOpServerSecurityContextRepository;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Filter chains of Spring Security. */
public final class Chains {

    private Chains() {}

    /** Two filter chains: one for orders, which need a login, and one for the rest. */
    @Configuration(proxyBeanMethods = false)
    public static class OrdersNeedLogin {

        @Bean
        @Order(1)
        SecurityWebFilterChain orders(ServerHttpSecurity http) {
            return http.securityMatcher(new PathPatternParserServerWebExchangeMatcher("/orders/**"))
                    .authorizeExchange(all -> all.anyExchange().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }

        @Bean
        @Order(2)
        SecurityWebFilterChain rest(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** Nobody needs a login. */
    @Configuration(proxyBeanMethods = false)
    public static class OpenToAll {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** A login by a form, which answers a wrong password with 401. */
    @Configuration(proxyBeanMethods = false)
    public static class FormLogin {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .formLogin(login -> login.authenticationFailureHandler((exchange, failure) -> {
                        ServerHttpResponse response = exchange.getExchange().getResponse();
                        response.setStatusCode(HttpStatus.UNAUTHORIZED);
                        return response.setComplete();
                    }))
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    /** Nobody needs a login, and scripts of other sites are not kept away. */
    @Configuration(proxyBeanMethods = false)
    public static class NoForgeryCheck {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    /** All but the health of the application needs a login. */
    @Configuration(proxyBeanMethods = false)
    public static class HealthForAll {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(exchanges -> exchanges
                            .pathMatchers("/actuator/health")
                            .permitAll()
                            .anyExchange()
                            .authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** A filter that checks keys in a header, a cookie or the query, finds none valid, and counts how often. */
    @Configuration(proxyBeanMethods = false)
    public static class ApiKeys implements Forgetful {

        private final AtomicInteger checks = new AtomicInteger();

        @Override
        public void forget() {
            checks.set(0);
        }

        /** The number of checks. */
        public AtomicInteger checks() {
            return checks;
        }

        @Bean
        SecurityWebFilterChain keys(ServerHttpSecurity http) {
            WebFilter filter = (exchange, chain) -> {
                checks.incrementAndGet();
                exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED);
                return exchange.getResponse().setComplete();
            };
            return http.cors(cors -> cors.disable())
                    .addFilterBefore(filter, SecurityWebFiltersOrder.AUTHORIZATION)
                    .build();
        }
    }

    /** Only callers with a token are let in. */
    @Configuration(proxyBeanMethods = false)
    public static class Tokens {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().authenticated())
                    .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
                    .build();
        }
    }

    /** Only callers are let in whom a filter knows by a header. */
    @Configuration(proxyBeanMethods = false)
    public static class KnownByToken {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            WebFilter tokens = (exchange, chain) -> {
                String user = exchange.getRequest().getHeaders().getFirst("X-User");
                Mono<Void> rest = chain.filter(exchange);
                return user == null
                        ? rest
                        : rest.contextWrite(ReactiveSecurityContextHolder.withAuthentication(
                                UsernamePasswordAuthenticationToken.authenticated(
                                        user, "token", AuthorityUtils.createAuthorityList("ROLE_USER"))));
            };
            return http.securityContextRepository(NoOpServerSecurityContextRepository.getInstance())
                    .addFilterAt(tokens, SecurityWebFiltersOrder.AUTHENTICATION)
                    .authorizeExchange(all -> all.anyExchange().authenticated())
                    .build();
        }
    }
}

package dev.ratelimit.spring;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.filter.OncePerRequestFilter;

/** Filter chains of Spring Security. */
public final class Chains {

    private Chains() {}

    /** Two filter chains: one for orders, which need a login, and one for the rest. */
    @Configuration(proxyBeanMethods = false)
    public static class OrdersNeedLogin {

        @Bean
        @Order(1)
        SecurityFilterChain orders(HttpSecurity http) throws Exception {
            return http.securityMatcher("/orders/**")
                    .authorizeHttpRequests(all -> all.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }

        @Bean
        @Order(2)
        SecurityFilterChain rest(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** Nobody needs a login. */
    @Configuration(proxyBeanMethods = false)
    public static class OpenToAll {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** A login by a form, which answers a wrong password with 401. */
    @Configuration(proxyBeanMethods = false)
    public static class FormLogin {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .formLogin(login -> login.failureHandler((request, response, failure) -> response.setStatus(401)))
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    /** Nobody needs a login, and scripts of other sites are not kept away. */
    @Configuration(proxyBeanMethods = false)
    public static class NoForgeryCheck {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    /** All but the health of the application needs a login. */
    @Configuration(proxyBeanMethods = false)
    public static class HealthForAll {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers("/actuator/health")
                            .permitAll()
                            .anyRequest()
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
        SecurityFilterChain keys(HttpSecurity http) throws Exception {
            Filter filter = (request, response, chain) -> {
                checks.incrementAndGet();
                ((HttpServletResponse) response).setStatus(401);
            };
            return http.cors(cors -> cors.disable())
                    .addFilterBefore(filter, AuthorizationFilter.class)
                    .build();
        }
    }

    /** Only callers with a token are let in. */
    @Configuration(proxyBeanMethods = false)
    public static class Tokens {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().authenticated())
                    .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
                    .build();
        }
    }

    /** Only callers are let in whom a filter knows by a header. */
    @Configuration(proxyBeanMethods = false)
    public static class KnownByToken {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                    .addFilterBefore(new TokenFilter(), UsernamePasswordAuthenticationFilter.class)
                    .authorizeHttpRequests(all -> all.anyRequest().authenticated())
                    .build();
        }
    }

    /** Sets the caller for its thread only, as many applications do. */
    private static final class TokenFilter extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String user = request.getHeader("X-User");
            if (user != null) {
                SecurityContextHolder.getContext()
                        .setAuthentication(UsernamePasswordAuthenticationToken.authenticated(
                                user, "token", AuthorityUtils.createAuthorityList("ROLE_USER")));
            }
            chain.doFilter(request, response);
        }
    }
}

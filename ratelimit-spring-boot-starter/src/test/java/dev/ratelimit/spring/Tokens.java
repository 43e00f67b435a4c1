package dev.ratelimit.spring;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.security.Principal;
import java.util.List;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

/** Accepts callers as who they claim to be: {@code X-User: alice@acme} has a token for the tenant acme. */
@Configuration(proxyBeanMethods = false)
class Tokens {

    @Bean
    FilterRegistrationBean<Filter> believing() {
        FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>(
                (request, response, chain) -> chain.doFilter(withToken((HttpServletRequest) request), response));
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return filter;
    }

    private static HttpServletRequest withToken(HttpServletRequest request) {
        String user = request.getHeader("X-User");
        if (user == null) {
            return request;
        }
        Jwt token = Jwt.withTokenValue("token")
                .header("alg", "none")
                .subject(user)
                .claim("tenant", user.substring(user.indexOf('@') + 1))
                .build();
        return new HttpServletRequestWrapper(request) {
            @Override
            public Principal getUserPrincipal() {
                return new JwtAuthenticationToken(token, List.of());
            }
        };
    }
}

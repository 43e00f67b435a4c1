package dev.ratelimit.spring;

import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Accepts callers as who they claim to be: {@code X-User: alice@acme} has a token for the tenant acme. */
@Configuration(proxyBeanMethods = false)
class Tokens {

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    WebFilter believing() {
        return (exchange, chain) -> {
            String user = exchange.getRequest().getHeaders().getFirst("X-User");
            if (user == null) {
                return chain.filter(exchange);
            }
            Jwt token = Jwt.withTokenValue("token")
                    .header("alg", "none")
                    .subject(user)
                    .claim("tenant", user.substring(user.indexOf('@') + 1))
                    .build();
            return chain.filter(exchange.mutate()
                    .principal(Mono.just(new JwtAuthenticationToken(token, List.of())))
                    .build());
        };
    }
}

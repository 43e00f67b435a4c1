package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

class ClaimsTest {

    private static final Jwt JWT = Jwt.withTokenValue("token")
            .header("alg", "none")
            .claim("tenant", "acme")
            .claim("level", 3)
            .claim("score", 3.0)
            .claim("roles", List.of("a", "b"))
            .build();

    @Test
    void of_jwt_isTheClaim() {
        Principal principal = new JwtAuthenticationToken(JWT);

        assertThat(Claims.of(principal, "tenant")).isEqualTo("acme");
        assertThat(Claims.of(principal, "level")).isEqualTo("3");
        assertThat(Claims.of(principal, "score")).isEqualTo("3");
        assertThat(Claims.of(principal, "roles")).isNull();
        assertThat(Claims.of(principal, "nothing")).isNull();
    }

    @Test
    void of_otherPrincipalWithAJwt_isTheTokensClaim() {
        assertThat(Claims.of(new TestingAuthenticationToken("alice", JWT), "tenant"))
                .isEqualTo("acme");
    }

    @Test
    void of_loginAtAProvider_isTheAttribute() {
        Object user = new DefaultOAuth2AuthenticatedPrincipal(Map.of("tenant", "acme"), List.of());

        assertThat(Claims.of(new TestingAuthenticationToken(user, "n/a"), "tenant"))
                .isEqualTo("acme");
    }

    @Test
    void of_whoHasNoToken_isNothing() {
        assertThat(Claims.of(null, "tenant")).isNull();
        assertThat(Claims.of(() -> "alice", "tenant")).isNull();
        assertThat(Claims.of(new TestingAuthenticationToken("alice", "secret"), "tenant"))
                .isNull();
    }
}

package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.text.NumberText;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;

/**
 * Claims of a principal who logged in with a token or through a provider. Needs Spring Security's OAuth 2.0 classes.
 */
final class Claims {

    private Claims() {}

    /** A claim with a single text, number or boolean; {@code null} if there is none. */
    static @Nullable String of(@Nullable Principal principal, String name) {
        if (!(principal instanceof Authentication authentication)) {
            return null;
        }
        Object value = in(authentication.getPrincipal(), name);
        if (value == null) {
            value = in(authentication.getCredentials(), name);
        }
        if (value instanceof Number number) {
            return NumberText.of(number);
        }
        boolean one = value instanceof CharSequence || value instanceof Boolean;
        return one ? String.valueOf(value) : null;
    }

    private static @Nullable Object in(@Nullable Object holder, String name) {
        Map<String, Object> claims = Map.of();
        if (holder instanceof ClaimAccessor token) {
            claims = token.getClaims();
        } else if (holder instanceof OAuth2AuthenticatedPrincipal user) {
            claims = user.getAttributes();
        }
        return claims.get(name);
    }
}

package dev.ratelimit.spring.reactive.request;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/**
 * What WebFlux only tells later, and rules read at once. Immutable.
 *
 * @param principal the authenticated caller; {@code null} if there is none, or no rule reads it
 * @param sessionId of the existing session; {@code null} if there is none, or no rule reads it
 * @param form the parameters in the body; empty if there are none, or no rule reads them
 * @param failure why the body cannot be read; {@code null} if it has been read, or need not be
 */
public record FetchedFacts(
        @Nullable Principal principal,
        @Nullable String sessionId,
        MultiValueMap<String, String> form,
        @Nullable RuntimeException failure) {

    /** No facts. */
    public static final FetchedFacts NONE = new FetchedFacts(null, null, new LinkedMultiValueMap<>(), null);
}

package dev.ratelimit.spring.reactive.request;

import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/**
 * What WebFlux only tells later, and rules read at once. Immutable.
 *
 * @param principal the authenticated caller; {@code null} if there is none, or no rule reads it
 * @param sessionId of the existing session; {@code null} if there is none, or no rule reads it
 * @param form the parameters in the body; empty if there are none, or no rule reads them; {@code null} if they are unknown
 * @param resolved what resolvers that answer later have said, by the names of their beans
 */
record FetchedFacts(
        @Nullable Principal principal,
        @Nullable String sessionId,
        @Nullable MultiValueMap<String, String> form,
        Map<String, @Nullable String> resolved) {

    /** No facts. */
    static final FetchedFacts NONE = new FetchedFacts(null, null, new LinkedMultiValueMap<>(), Map.of());

    FetchedFacts withPrincipal(Optional<Principal> found) {
        return new FetchedFacts(found.orElse(null), sessionId, form, resolved);
    }

    FetchedFacts withSession(Optional<String> found) {
        return new FetchedFacts(principal, found.orElse(null), form, resolved);
    }

    FetchedFacts withForm(@Nullable MultiValueMap<String, String> read) {
        return new FetchedFacts(principal, sessionId, read, resolved);
    }

    FetchedFacts withResolved(Map<String, Optional<String>> answers) {
        Map<String, @Nullable String> all = new HashMap<>();
        answers.forEach((name, answer) -> all.put(name, answer.orElse(null)));
        return new FetchedFacts(principal, sessionId, form, all);
    }
}

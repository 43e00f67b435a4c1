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
 * @param form the parameters in the body; empty if there are none, or no rule reads them
 * @param failure why the body cannot be read; {@code null} if it has been read, or need not be
 * @param resolved what resolvers that answer later have said, by the names of their beans
 */
record FetchedFacts(
        @Nullable Principal principal,
        @Nullable String sessionId,
        MultiValueMap<String, String> form,
        @Nullable RuntimeException failure,
        Map<String, @Nullable String> resolved) {

    /** No facts. */
    static final FetchedFacts NONE = new FetchedFacts(null, null, new LinkedMultiValueMap<>(), null, Map.of());

    FetchedFacts withPrincipal(Optional<Principal> found) {
        return new FetchedFacts(found.orElse(null), sessionId, form, failure, resolved);
    }

    FetchedFacts withSession(Optional<String> found) {
        return new FetchedFacts(principal, found.orElse(null), form, failure, resolved);
    }

    FetchedFacts withForm(MultiValueMap<String, String> read) {
        return new FetchedFacts(principal, sessionId, read, failure, resolved);
    }

    FetchedFacts withFailure(RuntimeException unreadable) {
        return new FetchedFacts(principal, sessionId, form, unreadable, resolved);
    }

    FetchedFacts withResolved(Map<String, Optional<String>> answers) {
        Map<String, @Nullable String> all = new HashMap<>();
        answers.forEach((name, answer) -> all.put(name, answer.orElse(null)));
        return new FetchedFacts(principal, sessionId, form, failure, all);
    }
}

package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;

/**
 * Where a request leads, as far as it can be told without asking WebFlux.
 *
 * @param endpoint the best guess, if it is not certain
 * @param certain whether WebFlux will find the same
 */
public record Found(Endpoint endpoint, boolean certain) {}

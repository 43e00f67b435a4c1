/** The endpoints of a WebFlux application, and which of them a request leads to. */
@NullMarked
package dev.ratelimit.spring.reactive.endpoint;

import org.jspecify.annotations.NullMarked;

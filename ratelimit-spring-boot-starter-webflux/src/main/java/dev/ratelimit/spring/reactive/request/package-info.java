/** Reactive requests, and what rules and operators see of them. */
@NullMarked
package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.NullMarked;

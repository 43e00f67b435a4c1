/** Limits of Spring Cloud Gateway's routes: a filter by name, and a limiter for the gateway's own filter. */
@NullMarked
package dev.ratelimit.spring.reactive.gateway;

import org.jspecify.annotations.NullMarked;

/** The servers on WebFlux of the HTTP benchmark: an endpoint or a gateway, without limits or with somebody's. */
@NullMarked
package dev.ratelimit.benchmarks.webflux;

import org.jspecify.annotations.NullMarked;

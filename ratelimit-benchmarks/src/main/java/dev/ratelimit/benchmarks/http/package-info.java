/** What a limit adds to an HTTP request: the same small server with and without limits, under load. */
@NullMarked
package dev.ratelimit.benchmarks.http;

import org.jspecify.annotations.NullMarked;

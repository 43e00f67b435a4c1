/** What a limit adds to a request over HTTP: the same small server with and without, under load. */
@NullMarked
package dev.ratelimit.benchmarks.http;

import org.jspecify.annotations.NullMarked;

/** The server that the HTTP benchmark asks: without limits, with this library's, or with Bucket4j's. */
@NullMarked
package dev.ratelimit.benchmarks.http.app;

import org.jspecify.annotations.NullMarked;

/** The server of the HTTP benchmark: without limits, with those of this library, or with those of Bucket4j. */
@NullMarked
package dev.ratelimit.benchmarks.http.app;

import org.jspecify.annotations.NullMarked;

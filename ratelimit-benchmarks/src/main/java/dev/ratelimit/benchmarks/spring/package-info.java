/** The cost of the filter, and of finding the endpoint of a request. */
@NullMarked
package dev.ratelimit.benchmarks.spring;

import org.jspecify.annotations.NullMarked;

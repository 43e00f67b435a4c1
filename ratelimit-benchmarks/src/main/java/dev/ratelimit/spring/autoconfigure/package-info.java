/** The cost of finding the endpoint of a request: benchmarks of code that is not public. */
@NullMarked
package dev.ratelimit.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;

/** What it costs to find out where a request leads: benchmarks of what is no public API. */
@NullMarked
package dev.ratelimit.spring.web;

import org.jspecify.annotations.NullMarked;

/** What rules know of a request: its facts, its endpoint, and values that were read from it. */
@NullMarked
package dev.ratelimit.spring.rules.request;

import org.jspecify.annotations.NullMarked;

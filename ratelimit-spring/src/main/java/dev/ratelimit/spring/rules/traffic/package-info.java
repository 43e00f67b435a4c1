/** What became of requests: counts, and in bounded memory the keys and the endpoints that matter most. */
@NullMarked
package dev.ratelimit.spring.rules.traffic;

import org.jspecify.annotations.NullMarked;

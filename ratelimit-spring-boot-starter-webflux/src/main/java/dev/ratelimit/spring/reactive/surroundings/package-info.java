/** Other filters of the application, and settings of the server that bypass limits. */
@NullMarked
package dev.ratelimit.spring.reactive.surroundings;

import org.jspecify.annotations.NullMarked;

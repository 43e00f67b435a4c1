/** Other filters and servlets of the application, and settings of the server that bypass limits. */
@NullMarked
package dev.ratelimit.spring.servlet.surroundings;

import org.jspecify.annotations.NullMarked;

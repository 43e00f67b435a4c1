/** Patterns of paths: which paths match them, and which of them overlap or match nothing. */
@NullMarked
package dev.ratelimit.spring.rules.path;

import org.jspecify.annotations.NullMarked;

/** Limits of method calls, on any web stack. */
@NullMarked
package dev.ratelimit.spring.boot.method;

import org.jspecify.annotations.NullMarked;

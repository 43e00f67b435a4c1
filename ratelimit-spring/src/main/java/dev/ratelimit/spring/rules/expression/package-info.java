/** Expressions of the configuration that read a request. */
@NullMarked
package dev.ratelimit.spring.rules.expression;

import org.jspecify.annotations.NullMarked;

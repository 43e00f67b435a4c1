/** What operators do while the application runs: look, explain, change, reset. */
@NullMarked
package dev.ratelimit.spring.rules.operation;

import org.jspecify.annotations.NullMarked;

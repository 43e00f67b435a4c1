/** Wires the starter. Nothing else imports this package. */
@NullMarked
package dev.ratelimit.spring.reactive.autoconfigure;

import org.jspecify.annotations.NullMarked;

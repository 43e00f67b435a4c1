/** Mistakes in the configuration: how they are found before or at the start, and how they are told. */
@NullMarked
package dev.ratelimit.spring.rules.mistake;

import org.jspecify.annotations.NullMarked;

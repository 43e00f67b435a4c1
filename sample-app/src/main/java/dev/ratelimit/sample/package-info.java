/** A small API that uses the starter. */
@NullMarked
package dev.ratelimit.sample;

import org.jspecify.annotations.NullMarked;

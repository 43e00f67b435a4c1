/** What limits have met lately, recorded so that other limits can be tried out on it later. */
@NullMarked
package dev.ratelimit.spring.rules.recording;

import org.jspecify.annotations.NullMarked;

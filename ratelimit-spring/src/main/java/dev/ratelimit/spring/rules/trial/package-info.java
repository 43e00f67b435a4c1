/** Trials of other limits beside those in force. */
@NullMarked
package dev.ratelimit.spring.rules.trial;

import org.jspecify.annotations.NullMarked;

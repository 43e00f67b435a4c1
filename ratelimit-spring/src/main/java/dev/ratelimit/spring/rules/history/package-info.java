/** What operators have changed: who, when and why, also in terms of the configuration. */
@NullMarked
package dev.ratelimit.spring.rules.history;

import org.jspecify.annotations.NullMarked;

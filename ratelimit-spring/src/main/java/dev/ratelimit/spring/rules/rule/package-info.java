/** A rule: which requests are charged to which policy, to whose budget, and how much. */
@NullMarked
package dev.ratelimit.spring.rules.rule;

import org.jspecify.annotations.NullMarked;

/** What a refused caller reads: the status, the body and the words in it. */
@NullMarked
package dev.ratelimit.spring.rules.refusal;

import org.jspecify.annotations.NullMarked;

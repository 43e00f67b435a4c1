/** Keys: whose budget a request is charged to. */
@NullMarked
package dev.ratelimit.spring.rules.key;

import org.jspecify.annotations.NullMarked;

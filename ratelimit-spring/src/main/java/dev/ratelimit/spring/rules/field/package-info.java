/** The fields of responses that say what is left and when to retry: their names, parameters and syntax. */
@NullMarked
package dev.ratelimit.spring.rules.field;

import org.jspecify.annotations.NullMarked;

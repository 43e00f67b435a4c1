/** Texts as people and clients write them: quoted in messages, compared, taken apart. */
@NullMarked
package dev.ratelimit.spring.rules.text;

import org.jspecify.annotations.NullMarked;

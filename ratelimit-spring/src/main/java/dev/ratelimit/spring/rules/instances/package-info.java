/** What all instances of an application count together: each tells the others a summary, and adds up theirs. */
@NullMarked
package dev.ratelimit.spring.rules.instances;

import org.jspecify.annotations.NullMarked;

/** For tests, the project's own and its users': fake time, assertions, and the contract that every store passes. */
@NullMarked
package dev.ratelimit.test;

import org.jspecify.annotations.NullMarked;

/** Test support for this project and for applications: a fake clock, assertions, and the store contract. */
@NullMarked
package dev.ratelimit.test;

import org.jspecify.annotations.NullMarked;

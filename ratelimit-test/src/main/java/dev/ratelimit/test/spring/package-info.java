/** Fake time in the tests of Spring applications; needs Spring's test support. */
@NullMarked
package dev.ratelimit.test.spring;

import org.jspecify.annotations.NullMarked;

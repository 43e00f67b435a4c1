package dev.ratelimit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks methods whose result must not be ignored: a refusal is a value, not an exception. Error Prone recognizes the
 * simple name of this annotation and reports calls that ignore the result, unless {@link CanIgnoreReturnValue} allows
 * it.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.PACKAGE, ElementType.TYPE, ElementType.METHOD})
public @interface CheckReturnValue {}

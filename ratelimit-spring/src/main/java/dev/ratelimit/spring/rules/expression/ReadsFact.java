package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.rules.request.Reads;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a member of {@code #request} reads. With an argument, that is the name of the value. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface ReadsFact {

    /** The fact. */
    Reads.Fact value();

    /** Which value of it, for a member without an argument; empty for the fact as a whole. */
    String name() default "";
}

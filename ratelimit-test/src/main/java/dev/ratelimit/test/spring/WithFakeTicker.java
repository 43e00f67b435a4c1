package dev.ratelimit.test.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a {@link dev.ratelimit.test.FakeTicker} the clock of all limits in a test with a Spring context, such as a
 * {@code @SpringBootTest} or a {@code @WebMvcTest}, and a bean to inject.
 *
 * <p>Each test method starts as if the application had just been started, although tests share its context: budgets are
 * full, nobody waits for permits, and it is 2027-01-01T00:00:00Z. Monotonic time goes on. The budgets are those in
 * memory, also if {@code ratelimit.store.type} is another one, because servers have their own clocks. A store of your own
 * is kept, and only cleared if it is an {@link dev.ratelimit.memory.InMemoryStore}. Policies that a test has changed
 * stay changed.
 *
 * <p>Applies to nested test classes and subclasses. Not for test methods that run at the same time in one context.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface WithFakeTicker {}

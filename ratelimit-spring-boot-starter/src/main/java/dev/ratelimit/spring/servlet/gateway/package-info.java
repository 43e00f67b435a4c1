/** Limits of the routes of Spring Cloud Gateway on Spring MVC: a filter by name. */
@NullMarked
package dev.ratelimit.spring.servlet.gateway;

import org.jspecify.annotations.NullMarked;

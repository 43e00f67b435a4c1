/** The filter, and what it needs on a request's way: endpoints, rules, headers, the refusal. */
@NullMarked
package dev.ratelimit.spring.web;

import org.jspecify.annotations.NullMarked;

/**
 * What a request is charged, to whose budget, and what the caller sees, on any web stack. The starter of a web stack
 * creates {@link RequestRules} from the properties, passes them the endpoints, and has {@link RequestLimiter} charge
 * each request.
 */
@NullMarked
package dev.ratelimit.spring.rules;

import org.jspecify.annotations.NullMarked;

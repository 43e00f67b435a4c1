/** The configuration that is tried out: bound as Spring Boot binds it, with what the log can tell about requests. */
@NullMarked
package dev.ratelimit.simulator.config;

import org.jspecify.annotations.NullMarked;

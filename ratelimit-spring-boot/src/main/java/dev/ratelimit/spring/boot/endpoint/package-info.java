/** Endpoints, found by path: routes of controllers, as their mapping decides, and what their handlers say. */
@NullMarked
package dev.ratelimit.spring.boot.endpoint;

import org.jspecify.annotations.NullMarked;

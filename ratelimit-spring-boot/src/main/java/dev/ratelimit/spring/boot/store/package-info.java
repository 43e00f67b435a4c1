/** What Spring Boot knows of every store on other servers: events, health, meters and warm-up. */
@NullMarked
package dev.ratelimit.spring.boot.store;

import org.jspecify.annotations.NullMarked;

/** The store on Redis as Spring Boot knows it: client, and changes for all instances. */
@NullMarked
package dev.ratelimit.spring.boot.redis;

import org.jspecify.annotations.NullMarked;

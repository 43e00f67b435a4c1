/** What differs between the versions of Spring Boot: each has a class {@code Boot} of its own. */
@NullMarked
package dev.ratelimit.spring.boot.version;

import org.jspecify.annotations.NullMarked;

/** The store in a database as applications with Spring Boot choose it. */
@NullMarked
package dev.ratelimit.spring.boot.jdbc;

import org.jspecify.annotations.NullMarked;

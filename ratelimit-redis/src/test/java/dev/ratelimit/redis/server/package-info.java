/**
 * Servers for tests: real ones, which are processes on loopback, with a proxy that disturbs the connection to them; and one
 * that runs scripts in this JVM.
 */
@NullMarked
package dev.ratelimit.redis.server;

import org.jspecify.annotations.NullMarked;

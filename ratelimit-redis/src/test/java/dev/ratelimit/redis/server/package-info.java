/** Real servers for tests: processes on loopback, and a proxy that spoils the way to them. */
@NullMarked
package dev.ratelimit.redis.server;

import org.jspecify.annotations.NullMarked;

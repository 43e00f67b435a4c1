/** Real servers for tests: processes on loopback, and a proxy that disturbs the connection to them. */
@NullMarked
package dev.ratelimit.redis.server;

import org.jspecify.annotations.NullMarked;

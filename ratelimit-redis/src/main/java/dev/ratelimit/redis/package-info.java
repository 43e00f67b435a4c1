/** The store on Redis or Valkey. */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;

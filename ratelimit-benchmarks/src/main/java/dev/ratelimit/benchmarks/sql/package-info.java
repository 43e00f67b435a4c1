/** Ways to decide about requests in a database, side by side. */
@NullMarked
package dev.ratelimit.benchmarks.sql;

import org.jspecify.annotations.NullMarked;

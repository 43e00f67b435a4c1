/**
 * The storm of the in-memory store: random histories of calls, errors and clocks, in which the seed decides after which
 * access to shared memory which thread goes on. Each can be repeated from its seed.
 *
 * <p>{@link dev.ratelimit.memory.storm.Weaver} loads the store with {@link dev.ratelimit.memory.storm.Points} at these
 * accesses; at a point, an {@link dev.ratelimit.memory.storm.Actor} may pass the baton to another one. A
 * {@link dev.ratelimit.memory.storm.History} is what happens, drawn from a seed, {@link dev.ratelimit.memory.storm.Storm}
 * runs it, and {@link dev.ratelimit.memory.storm.Judge} looks for an order of the calls, and of what is
 * {@link dev.ratelimit.memory.storm.Unseen}, in which a {@link dev.ratelimit.memory.storm.Model} has the same results.
 */
@NullMarked
package dev.ratelimit.memory.storm;

import org.jspecify.annotations.NullMarked;

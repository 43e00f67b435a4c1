/**
 * The storm of the queue: random histories of callers who come, leave, hold and return permits, of late alarms and lazy
 * executors, in which another thread may do anything wherever the queue calls foreign code. Each can be repeated from its
 * seed.
 *
 * <p>A {@link dev.ratelimit.queue.storm.History} is what happens, drawn from a seed; {@link
 * dev.ratelimit.queue.storm.Storm} runs it in a {@link dev.ratelimit.queue.storm.World} of its own clock, scheduler and
 * executor. A {@link dev.ratelimit.queue.storm.Model} follows from outside who waits where, and the {@link
 * dev.ratelimit.queue.storm.Judge} knows of the queue only what its callers are promised.
 */
@NullMarked
package dev.ratelimit.queue.storm;

import org.jspecify.annotations.NullMarked;

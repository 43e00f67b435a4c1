package dev.ratelimit.queue;

import dev.ratelimit.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * What the usher has to do for a line: set an alarm, or have the store asked.
 *
 * @param version of the line at that time
 * @param state of the line at that time
 * @param tryAt when to ring, if an alarm is to be set
 * @param obsolete an alarm to cancel
 */
record Step(Line line, long version, Line.State state, long tryAt, Scheduler.@Nullable Alarm obsolete) {}

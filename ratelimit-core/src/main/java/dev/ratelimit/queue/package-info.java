/**
 * Waiting in line for permits.
 *
 * <p>A {@code Hall} has a {@code Room} for each policy that lets callers wait, a room has a {@code Line} for each budget,
 * and a line has its {@code Waiter}s. The hall's lock guards all of them. What happens, such as a caller who comes or an
 * alarm that rings, is one transition of the hall, which calls nothing but this package and the JDK's collections, and
 * allocates nothing once it has begun to write: it happens as a whole or not at all. The {@code Usher} then does what
 * the lines want, without the lock: it sets alarms, asks the store and answers callers. If that fails, the failure is
 * one more transition, which concerns one caller only.
 *
 * <p>A line's life. Each arrow makes what was begun for the line before obsolete, by a new version; alarms and tasks
 * that come late or twice find another one and do nothing:
 *
 * <pre>
 *           a caller comes         the usher sets an alarm      it rings
 * EMPTY --------------------&gt; UNTIMED --------------------&gt; TIMED ------+
 *   ^                            ^                            |         v
 *   | nobody is left     refused |       permits are refunded +-------&gt; DUE
 *   |                            |                                      | the usher tells the executor
 *   +-------------------------- ASKED &lt;-------------------------- CALLED &lt;+
 *                                       a thread asks for the head
 * </pre>
 */
@CheckReturnValue
@NullMarked
package dev.ratelimit.queue;

import dev.ratelimit.CheckReturnValue;
import org.jspecify.annotations.NullMarked;

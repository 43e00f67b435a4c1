/** Lets requests pass the limits in virtual time, with the code that decides about them in an application. */
@NullMarked
package dev.ratelimit.simulator.replay;

import org.jspecify.annotations.NullMarked;

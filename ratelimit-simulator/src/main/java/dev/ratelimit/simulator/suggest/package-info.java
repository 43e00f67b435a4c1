/** Which limits fit recorded traffic: what keys ask for, and the limits that a wish leads to. */
@NullMarked
package dev.ratelimit.simulator.suggest;

import org.jspecify.annotations.NullMarked;

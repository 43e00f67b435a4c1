/** Which limits fit recorded traffic: what keys ask for, and the limits that refuse few of them. */
@NullMarked
package dev.ratelimit.simulator.suggest;

import org.jspecify.annotations.NullMarked;

/** Made-up traffic, to see what limits do when somebody means harm. */
@NullMarked
package dev.ratelimit.simulator.attack;

import org.jspecify.annotations.NullMarked;

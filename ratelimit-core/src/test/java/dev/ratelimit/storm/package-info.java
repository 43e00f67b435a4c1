/**
 * What all storms have in common: {@link dev.ratelimit.storm.Histories} are drawn from seeds and run; one that fails is
 * shortened and printed as a {@link dev.ratelimit.storm.Timeline}.
 */
@NullMarked
package dev.ratelimit.storm;

import org.jspecify.annotations.NullMarked;

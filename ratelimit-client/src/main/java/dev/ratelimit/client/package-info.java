/**
 * Limits for calls that go out: they wait for permits before a call is sent, and obey what servers answer about their own
 * limits.
 */
@NullMarked
package dev.ratelimit.client;

import org.jspecify.annotations.NullMarked;

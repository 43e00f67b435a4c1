package dev.ratelimit.jdbc;

/**
 * What identifies the permits of a charge for its refund: rates look for the time, limits of what is held at once for the
 * number.
 *
 * @param micros the time of the charge by the server's clock; 0 if it is not known, and then only held permits come back
 * @param id the number of the charge, which no other one has
 */
record Stamp(long micros, long id) {}

package dev.ratelimit.jdbc;

/** What an order does. */
enum Operation {
    CHARGE,
    PEEK,
    REFUND,
    RESET
}

package dev.ratelimit.jdbc;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.remote.Answer;
import java.util.List;

/**
 * What became of an order.
 *
 * @param admitted whether all limits admitted; true for refunds and resets
 * @param nowMicros the time of the transaction
 * @param statuses of each charge, in the order of its policy's limits; empty for refunds and resets
 */
record Executed(boolean admitted, long nowMicros, List<List<LimitStatus>> statuses) implements Answer {}

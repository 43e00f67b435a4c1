package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.Stamp;
import java.util.List;

/**
 * What to execute, all or nothing.
 *
 * @param charges to different budgets
 * @param stamp of a charge its number, of a refund that of what was charged; otherwise any
 */
record Order(Operation operation, List<Charge> charges, Stamp stamp) {}

package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The simplest store on a {@link SqlDecider}: a transaction for each call, whose failure is thrown. */
final class SqlStore implements RateLimitStore {

    private final Database database;
    private final SqlDecider decider;
    private final AtomicLong ids = new AtomicLong();

    SqlStore(Database database, SqlDecider decider) {
        this.database = database;
        this.decider = decider;
    }

    @Override
    public Decision decide(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Stamp number = new Stamp(0, ids.incrementAndGet());
        Answer answer = execute(new Order(Operation.CHARGE, distinct, number));
        return decision(distinct, answer, answer.admitted() ? new Stamp(answer.nowMicros(), number.id()) : null);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        return decision(distinct, execute(new Order(Operation.PEEK, distinct, new Stamp(0, 0))), null);
    }

    private static Decision decision(List<Charge> charges, Answer answer, @Nullable Stamp receipt) {
        return new Decision(
                answer.admitted(),
                charges,
                answer.statuses().stream().flatMap(List::stream).toList(),
                receipt);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        List<Charge> distinct = Charge.addUp(part);
        distinct.forEach(decision::indexOf);
        if (decision.receipt() instanceof Stamp stamp) {
            execute(new Order(Operation.REFUND, distinct, stamp));
        }
    }

    @Override
    public boolean reset(Policy policy, String key) {
        return execute(new Order(Operation.RESET, List.of(policy.charge(key)), new Stamp(0, 0)))
                .admitted();
    }

    private Answer execute(Order order) {
        try {
            Connection connection = database.borrow();
            try {
                return decider.execute(connection, List.of(order)).get(0);
            } finally {
                database.giveBack(connection);
            }
        } catch (SQLException e) {
            throw new StoreUnavailableException(
                    order.charges().isEmpty()
                            ? "none"
                            : order.charges().get(0).policy().name(),
                    Duration.ofSeconds(1),
                    e.toString());
        }
    }
}

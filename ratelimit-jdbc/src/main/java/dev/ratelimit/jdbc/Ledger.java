package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.remote.Stamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The rows of a transaction, at its time. It executes orders one after another, each all or nothing. */
final class Ledger {

    private final SortedMap<byte[], Row> rows = new TreeMap<>(Arrays::compareUnsigned);
    private long nowMicros;

    /** Creates the rows that orders are about. */
    Ledger(List<Order> orders) {
        for (Order order : orders) {
            for (Charge charge : order.charges()) {
                rows.computeIfAbsent(RowCodec.id(charge), Row::new);
            }
        }
    }

    /** All rows, in the order of their ids. */
    Collection<Row> rows() {
        return rows.values();
    }

    /** The row with this id, which is one of the ledger's. */
    Row row(byte[] id) {
        Row row = rows.get(id);
        if (row == null) {
            throw new IllegalArgumentException("the database returned a row that it was not asked for");
        }
        return row;
    }

    /** The rows to write, in the order of their ids. */
    List<Row> changed() {
        return rows.values().stream().filter(Row::changed).toList();
    }

    /** The time of the transaction. */
    long nowMicros() {
        return nowMicros;
    }

    /**
     * From now on it is this time, or that of the latest row if it is only a little later.
     *
     * @param clockMicros by the database's clock
     * @param behindMicros how far the clock may be behind a row without having been set back
     */
    void begin(long clockMicros, long behindMicros) {
        nowMicros = clockMicros;
        for (Row row : rows.values()) {
            if (row.writtenMicros() > nowMicros && row.writtenMicros() - clockMicros <= behindMicros) {
                nowMicros = row.writtenMicros();
            }
        }
        rows.values().forEach(row -> row.begin(nowMicros));
    }

    Executed execute(Order order) {
        return switch (order.operation()) {
            case CHARGE -> decide(order, true);
            case PEEK -> decide(order, false);
            case REFUND -> {
                order.charges().forEach(charge -> refund(charge, order.stamp()));
                yield done();
            }
            case RESET -> {
                order.charges().forEach(charge -> row(RowCodec.id(charge)).clear());
                yield done();
            }
        };
    }

    private Executed done() {
        return new Executed(true, nowMicros, List.of());
    }

    private Executed decide(Order order, boolean take) {
        List<List<Question>> asked = order.charges().stream().map(this::ask).toList();
        boolean admitted = asked.stream().allMatch(Ledger::admitted);
        if (take && admitted) {
            for (int i = 0; i < asked.size(); i++) {
                charge(order.charges().get(i), asked.get(i), order.stamp().id());
            }
        } else if (take) {
            refuse(asked);
        }
        List<List<LimitStatus>> statuses = asked.stream()
                .map(limits ->
                        limits.stream().map(limit -> limit.status(admitted)).toList())
                .toList();
        return new Executed(admitted, nowMicros, statuses);
    }

    private List<Question> ask(Charge charge) {
        Row row = row(RowCodec.id(charge));
        List<Question> limits = new ArrayList<>(1);
        for (int number = 0; number < charge.policy().limits().size(); number++) {
            limits.add(new Question(charge, number, row));
        }
        return limits;
    }

    private static boolean admitted(List<Question> limits) {
        return limits.stream().allMatch(Question::admitted);
    }

    private void charge(Charge charge, List<Question> limits, long id) {
        if (charge.permits() > 0) {
            limits.forEach(Question::charge);
            if (charge.policy().concurrency()) {
                Row row = row(RowCodec.id(charge));
                LimitAlgorithm any = charge.policy().algorithms().get(0);
                row.hold(new Row.Held(id, row.now(any), charge.permits()));
            }
        }
    }

    private static void refuse(List<List<Question>> asked) {
        boolean onlyChanged = asked.stream().flatMap(List::stream).noneMatch(Question::refusesUnchanged);
        for (List<Question> limits : asked) {
            if (onlyChanged) {
                limits.forEach(Question::adopt);
            }
            if (!admitted(limits)) {
                limits.forEach(Question::penalize);
            }
        }
    }

    private void refund(Charge charge, Stamp stamp) {
        Row row = row(RowCodec.id(charge));
        Row.Held held = row.heldBy(stamp.id());
        boolean concurrency = charge.policy().concurrency();
        if (concurrency && held == null && stamp.micros() == 0 && !row.stored()) {
            // nobody knows whether the charge was committed, or still is
            row.insist();
        }
        for (int number = 0; number < charge.policy().limits().size(); number++) {
            LimitAlgorithm paid = charge.policy().algorithms().get(number);
            Row.Kept kept = row.kept(charge.policy().rank(number));
            if (kept == null) {
                continue;
            }
            LimitState state = new LimitState(kept.limit(), kept.state(), 0);
            long now = row.now(kept.limit());
            if (concurrency && kept.limit().concurrency()) {
                if (held != null) {
                    state.refund(paid, Math.min(charge.permits(), held.permits()), now - held.nanos(), now);
                    row.touch();
                }
            } else if (stamp.micros() != 0) {
                state.refund(paid, charge.permits(), now - row.then(kept.limit(), stamp.micros()), now);
                row.touch();
            }
        }
        if (concurrency && held != null) {
            row.release(held, charge.permits());
        }
    }
}

package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** The charges of a decision whose keys share a slot, and thus a server: one script decides them. Not thread-safe. */
final class Batch {

    private record Entry(Charge charge, RedisLimit limit, String key) {}

    private static final int ARGUMENTS_A_LIMIT = 2;
    private static final byte[] NOTHING = {};

    private final List<Entry> entries = new ArrayList<>(4);
    private final List<Charge> charges = new ArrayList<>(4);
    private final Set<Script.Algorithm> algorithms = EnumSet.noneOf(Script.Algorithm.class);

    /** Adds a charge; its limits' keys are the name followed by a number. */
    void add(Charge charge, List<RedisLimit> limits, String name) {
        charges.add(charge);
        for (int i = 0; i < limits.size(); i++) {
            RedisLimit limit = limits.get(i);
            entries.add(new Entry(charge, limit, name + i));
            algorithms.add(limit.algorithm());
        }
    }

    List<Charge> charges() {
        return charges;
    }

    Script script() {
        return Script.of(algorithms);
    }

    String[] keys() {
        return entries.stream().map(Entry::key).toArray(String[]::new);
    }

    /** The script's arguments; {@code atMicros}: when a refunded charge was made, {@code nowMicros}: roughly now. */
    byte[][] arguments(Operation operation, long atMicros, long nowMicros) {
        byte[][] arguments = new byte[2 + ARGUMENTS_A_LIMIT * entries.size()][];
        arguments[0] = operation.word();
        arguments[1] =
                operation == Operation.REFUND ? Long.toString(atMicros).getBytes(StandardCharsets.US_ASCII) : NOTHING;
        int at = 2;
        for (Entry entry : entries) {
            arguments[at++] = entry.limit.signature();
            arguments[at++] = entry.limit.numbers(entry.charge.permits(), nowMicros);
        }
        return arguments;
    }

    /** How many numbers the answer to a charge or peek holds. */
    int answers() {
        return entries.stream().mapToInt(entry -> entry.limit.answers()).sum();
    }

    /** The statuses of each charge's limits, from the answer to a charge or peek. */
    IdentityHashMap<Charge, List<LimitStatus>> statuses(Answer answer) {
        IdentityHashMap<Charge, List<LimitStatus>> statuses = new IdentityHashMap<>();
        int at = 0;
        for (Entry entry : entries) {
            statuses.computeIfAbsent(entry.charge, charge -> new ArrayList<>(1))
                    .add(entry.limit.status(entry.charge, answer.admitted(), answer.numbers(), at, answer.nowMicros()));
            at += entry.limit.answers();
        }
        return statuses;
    }
}

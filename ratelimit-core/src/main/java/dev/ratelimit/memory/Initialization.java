package dev.ratelimit.memory;

import dev.ratelimit.Decision;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.util.List;

/**
 * The initialization of the classes that calls of a store need. If one of them happened in a first call that is deep in
 * a recursion, there might be no stack for it; and a class whose initialization has failed once can never be used.
 */
final class Initialization {

    private static final List<Class<?>> NEEDED = List.of(
            Claim.class,
            Collector.class,
            Decision.class,
            Draft.class,
            KeyHash.class,
            Keyspace.class,
            Outcome.class,
            Segment.class,
            Segment.Added.class,
            Slots.class,
            Table.class,
            Transaction.class,
            Transaction.Task.class);

    private Initialization() {}

    /** Initializes those that are not initialized yet. */
    static void complete() {
        Lookup lookup = MethodHandles.lookup();
        for (Class<?> needed : NEEDED) {
            try {
                lookup.ensureInitialized(needed);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}

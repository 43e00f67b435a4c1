package dev.ratelimit.memory;

import dev.ratelimit.Policy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/** The keyspaces of a store, one for each limit of each policy. They are created when first needed. Thread-safe. */
final class Keyspaces {

    private final ConcurrentHashMap<String, List<Keyspace>> byPolicy = new ConcurrentHashMap<>();
    private final StoreClock clock;
    private final int maxKeys;
    private final Map<String, Integer> maxKeysOf;

    /**
     * Creates none yet.
     *
     * @param maxKeys the maximum number of keys of a keyspace
     * @param maxKeysOf the same for policies that differ, by their names
     */
    Keyspaces(StoreClock clock, int maxKeys, Map<String, Integer> maxKeysOf) {
        this.clock = clock;
        this.maxKeys = maxKeys;
        this.maxKeysOf = Map.copyOf(maxKeysOf);
    }

    /** Those of the policy's limits; more if a policy of the same name had more limits. */
    List<Keyspace> of(Policy policy) {
        List<Keyspace> known = byPolicy.get(policy.name());
        return known != null && known.size() >= policy.limits().size() ? known : add(policy);
    }

    /** Adds up the values of those that a policy of this name has needed so far. */
    long sum(String policy, ToLongFunction<Keyspace> value) {
        return byPolicy.getOrDefault(policy, List.of()).stream()
                .mapToLong(value)
                .sum();
    }

    /** Forgets all. Calls that have found theirs before continue with them, in vain. */
    void clear() {
        for (String policy : byPolicy.keySet()) {
            List<Keyspace> forgotten = byPolicy.remove(policy);
            if (forgotten != null) {
                forgotten.forEach(Keyspace::abandon);
            }
        }
    }

    /** Those of each policy. */
    Collection<List<Keyspace>> all() {
        return byPolicy.values();
    }

    private List<Keyspace> add(Policy policy) {
        return byPolicy.merge(policy.name(), create(policy, 0), (known, ignored) -> {
            List<Keyspace> all = new ArrayList<>(known);
            all.addAll(create(policy, known.size()));
            return List.copyOf(all);
        });
    }

    private List<Keyspace> create(Policy policy, int from) {
        int max = maxKeysOf.getOrDefault(policy.name(), maxKeys);
        List<Keyspace> created = new ArrayList<>();
        for (int i = from; i < policy.limits().size(); i++) {
            created.add(new Keyspace(max, clock));
        }
        return List.copyOf(created);
    }
}

package dev.ratelimit;

import java.util.List;

/**
 * A name and the limits of each key under it, all of which must admit. Immutable.
 *
 * <p>A store identifies a policy by its name and a limit by its position in the list. To change a limit at run time,
 * charge a policy of the same name with other limits: used permits are kept, in proportion
 * ({@link LimitAlgorithm#adopt}).
 *
 * @param name 1 to 100 printable ASCII characters without {@code "} and {@code \}; it appears in headers and metrics
 * @param limits at least one
 */
public record Policy(String name, List<Limit> limits) {

    /** Validates the name and copies the list. */
    public Policy {
        if (name.isEmpty() || name.length() > 100 || !name.chars().allMatch(Policy::printable)) {
            throw new IllegalArgumentException(
                    "name must be 1 to 100 printable ASCII characters without quotes and backslashes");
        }
        limits = List.copyOf(limits);
        if (limits.isEmpty()) {
            throw new IllegalArgumentException("limits must not be empty in policy " + name);
        }
    }

    /** Creates a policy with one or several limits. */
    public static Policy of(String name, Limit... limits) {
        return new Policy(name, List.of(limits));
    }

    /** The same limits with their functions, for stores. */
    @SuppressWarnings("unchecked") // each limit is one, as Limit is sealed, and the list is unmodifiable
    public List<LimitAlgorithm> algorithms() {
        return (List<LimitAlgorithm>) (List<? extends Limit>) limits;
    }

    /** One permit of the only budget of a policy without keys. */
    public Charge charge() {
        return new Charge(this, "", 1);
    }

    /** One permit of this key's budget. */
    public Charge charge(String key) {
        return new Charge(this, key, 1);
    }

    /**
     * Several permits of this key's budget.
     *
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Charge charge(String key, long permits) {
        return new Charge(this, key, permits);
    }

    private static boolean printable(int c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    }
}

package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A name and the limits of each key under it, all of which must admit. Immutable.
 *
 * <p>A store identifies a policy by its name, and a limit by its {@linkplain #rank rank}. To change limits at run time,
 * charge a policy of the same name with other limits: used permits are kept, in proportion
 * ({@link LimitAlgorithm#adopt}). A store keeps some memory for each name it has seen until it is closed, also when all
 * keys have gone: a policy is part of the configuration, and callers are its keys.
 *
 * <p>The limits of a policy are all rates, or all concurrency limits. To limit both, charge two policies: permits of a
 * rate are used up and come back with time, whereas those of a concurrency limit come back when the work is done.
 *
 * <p>Policies are equal if their names and their limits are, in this order.
 */
public final class Policy {

    private final String name;
    private final List<Limit> limits;

    /** By the numbers of the limits. */
    private final int[] ranks;

    /** The number of the limit with rank 0. */
    private final int slowest;

    /**
     * Validates the name and the limits, and copies the list.
     *
     * @param name 1 to 100 printable ASCII characters without {@code "} and {@code \}; it appears in headers and metrics
     * @param limits at least one; only the one of rank 0 may be a {@link Penalty}; all rates, or all concurrency limits
     * @throws IllegalArgumentException if the name or the limits are not valid
     */
    public Policy(String name, List<Limit> limits) {
        if (name.isEmpty() || name.length() > 100 || !name.chars().allMatch(Policy::printable)) {
            throw new IllegalArgumentException(
                    "name must be 1 to 100 printable ASCII characters without quotes and backslashes");
        }
        this.name = name;
        this.limits = List.copyOf(limits);
        if (limits.isEmpty()) {
            throw new IllegalArgumentException("limits must not be empty in policy " + name);
        }
        if (limits.stream().map(Limit::concurrency).distinct().count() > 1) {
            throw new IllegalArgumentException("limits must be all rates or all concurrency limits but policy " + name
                    + " has both; write two policies, such as " + name + " and " + name
                    + "/concurrency, and charge both");
        }
        int[] byPeriod = byPeriod(this.limits);
        this.slowest = byPeriod[0];
        this.ranks = new int[byPeriod.length];
        for (int rank = 0; rank < ranks.length; rank++) {
            ranks[byPeriod[rank]] = rank;
        }
        for (int number = 0; number < ranks.length; number++) {
            if (number != slowest && this.limits.get(number) instanceof Penalty) {
                throw new IllegalArgumentException(
                        "only the limit with the longest period may have a penalty in policy " + name
                                + ": it is for the whole policy");
            }
        }
    }

    private static int[] byPeriod(List<Limit> limits) {
        return IntStream.range(0, limits.size())
                .boxed()
                .sorted(Comparator.comparing(
                        number -> limits.get(number).rate().periodNanos(), Comparator.reverseOrder()))
                .mapToInt(number -> number)
                .toArray();
    }

    /**
     * Creates a policy.
     *
     * @param name 1 to 100 printable ASCII characters without {@code "} and {@code \}
     * @param limits at least one; all of them must admit
     * @return a policy with these limits, in this order
     * @throws IllegalArgumentException if the name or the limits are not valid
     */
    public static Policy of(String name, Limit... limits) {
        return new Policy(name, List.of(limits));
    }

    /**
     * The same policy with a penalty: a key that it refuses stays refused for this long, from the first refusal on,
     * also when its limits would admit again. Further refusals do not prolong that, and refunds do not end it, but a
     * reset does. Peeks, charges of 0 permits, and refusals by another policy start no penalty.
     *
     * <p>The limit with the longest period, that of {@linkplain #rank rank} 0, carries the penalty, as a {@link Penalty}: so
     * the penalty goes on when limits are added, removed, replaced or listed in another order. Once the penalty is over, it
     * can start again after that limit was full.
     *
     * @param penalty above 0, at most 365 days; replaces a previous penalty
     * @return a copy of this policy
     * @throws IllegalArgumentException if {@code penalty} is out of range, or the limits are concurrency limits
     */
    public Policy withPenalty(Duration penalty) {
        List<Limit> all = new ArrayList<>(limits);
        all.set(slowest, new Penalty(Penalty.without(LimitAlgorithm.of(limits.get(slowest))), penalty));
        return new Policy(name, all);
    }

    /** {@return the name} */
    public String name() {
        return name;
    }

    /** {@return the limits in the given order} Unmodifiable, not empty. */
    public List<Limit> limits() {
        return limits;
    }

    /**
     * {@return the place of a limit if the limits are ordered by their periods, the longest first} For authors of stores,
     * who keep the state of each limit under this number: so it is found again when limits are listed in another order, or
     * when one with a shorter period is added or removed. Limits with the same period keep their order.
     *
     * @param number of the limit in {@link #limits()}, from 0 on
     * @throws IndexOutOfBoundsException if there is no such limit
     */
    public int rank(int number) {
        return ranks[number];
    }

    /** {@return the limit of {@linkplain #rank rank} 0, if it carries a penalty; otherwise {@code null}} */
    public @Nullable Penalty penalty() {
        return limits.get(slowest) instanceof Penalty penalty ? penalty : null;
    }

    /**
     * {@return whether its limits are concurrency limits, whose permits are held until they are refunded}
     * {@link Reservation#release} returns them.
     */
    public boolean concurrency() {
        return limits.get(0).concurrency();
    }

    /** {@return the same limits with their functions, for stores} Unmodifiable. */
    @SuppressWarnings("unchecked") // each limit is one, as Limit is sealed, and the list is unmodifiable
    public List<LimitAlgorithm> algorithms() {
        return (List<LimitAlgorithm>) (List<? extends Limit>) limits;
    }

    /** {@return one permit of the only budget of a policy without keys} */
    public Charge charge() {
        return new Charge(this, "", 1);
    }

    /**
     * {@return one permit of this key's budget}
     *
     * @param key whose budget
     */
    public Charge charge(String key) {
        return new Charge(this, key, 1);
    }

    /**
     * {@return several permits of this key's budget}
     *
     * @param key whose budget
     * @param permits how many, 0 or more; 0 only asks
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Charge charge(String key, long permits) {
        return new Charge(this, key, permits);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Policy policy && name.equals(policy.name) && limits.equals(policy.limits);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + limits.hashCode();
    }

    @Override
    public String toString() {
        return "Policy[name=" + name + ", limits=" + limits + "]";
    }

    private static boolean printable(int c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    }
}

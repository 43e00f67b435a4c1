package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.history.ChangedProperty;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What operators have changed of a policy: a value of each property. Properties that this version does not know are kept for
 * other instances. Immutable.
 *
 * @param values by property
 */
record PolicyChange(Map<String, ChangedValue> values) {

    /** Nothing is changed. */
    static final PolicyChange NONE = new PolicyChange(Map.of());

    private static final String LIMIT = "limit";
    private static final String BURST = "burst";
    private static final String MODE = "mode";
    private static final String PENALTY = "penalty";
    private static final String MAX_WAIT = "max-wait";
    private static final String PATHS = "paths";

    /** All but those of plans: a return to the configuration concerns them, whether this instance has heard of them or not. */
    static final Set<String> PROPERTIES = Set.of(LIMIT, BURST, MODE, PENALTY, MAX_WAIT, PATHS);

    /** The limit of a plan; the name of the plan follows. */
    private static final String PLAN_LIMIT = "plan-limit.";

    /** The burst of a plan; the name of the plan follows. */
    private static final String PLAN_BURST = "plan-burst.";

    /** Copies the map. */
    PolicyChange {
        values = Map.copyOf(values);
    }

    /** Reads {@link ChangedValue#text}. */
    static PolicyChange of(String text) {
        return new PolicyChange(ChangedValue.parse(text));
    }

    /** The values that a change sets, by property. */
    static Map<String, String> valuesOf(RateLimitChange change) {
        Map<String, String> values = new TreeMap<>();
        put(values, LIMIT, change.limit());
        put(values, BURST, change.burst());
        Mode mode = change.mode();
        put(values, MODE, mode == null ? null : PropertyName.of(mode));
        put(values, PENALTY, change.penalty());
        put(values, MAX_WAIT, change.maxWait());
        List<String> paths = change.paths();
        put(values, PATHS, paths == null ? null : String.join(",", paths));
        change.plans().forEach((plan, own) -> {
            put(values, PLAN_LIMIT + plan, own.limit());
            put(values, PLAN_BURST + plan, own.burst());
        });
        return values;
    }

    private static void put(Map<String, String> values, String name, @Nullable Object value) {
        if (value != null) {
            values.put(name, value.toString());
        }
    }

    /** The same without what has ended at this moment, in microseconds. */
    PolicyChange withoutEndedAt(long micros) {
        Map<String, ChangedValue> left = new TreeMap<>(values);
        left.values().removeIf(value -> value.hasEndedAt(micros));
        return left.size() == values.size() ? this : new PolicyChange(left);
    }

    /** When the next of them ends, in microseconds. */
    long nextEnd() {
        return values.values().stream().mapToLong(ChangedValue::until).min().orElse(ChangedValue.NEVER);
    }

    /** When the last of them has ended that have at this moment, in microseconds; 0 if none has. */
    long lastEnd(long micros) {
        return values.values().stream()
                .filter(value -> value.hasEndedAt(micros))
                .mapToLong(ChangedValue::until)
                .max()
                .orElse(0);
    }

    /** As {@link #of} reads it, with further values. */
    String text(Map<String, Map<String, Object>> more) {
        Map<String, Map<String, Object>> all = ChangedValue.json(values);
        all.putAll(more);
        return ChangedValue.text(all);
    }

    /** All properties that this version knows and that are among those that are applied, ordered by name. */
    List<ChangedProperty> properties(String policy, RateLimitChange applied) {
        return new TreeMap<>(values)
                .entrySet().stream()
                        .filter(entry -> isIn(applied, entry.getKey()))
                        .map(entry -> new ChangedProperty(policy, entry.getKey(), entry.getValue()))
                        .toList();
    }

    /** What replaces the configuration of the policy. */
    RateLimitChange all() {
        return change(newestFirst());
    }

    /**
     * What replaces the configuration of the policy on an instance for which not all of that may be valid: as many and as new
     * values as fit together.
     *
     * @param valid whether the instance can apply a change
     */
    RateLimitChange fitting(Predicate<RateLimitChange> valid) {
        List<String> left = new ArrayList<>(newestFirst());
        if (valid.test(change(left))) {
            return change(left);
        }
        List<String> kept = new ArrayList<>();
        int before;
        do {
            before = left.size();
            // a value may fit only after an older one does
            for (String property : List.copyOf(left)) {
                List<String> tried = new ArrayList<>(kept);
                tried.addAll(with(property, left));
                if (left.contains(property) && valid.test(change(tried))) {
                    left.removeAll(tried);
                    kept = tried;
                }
            }
        } while (left.size() < before);
        return change(kept);
    }

    /** A property with those that are only kept together: a policy must not be enforced on other paths than those of the change. */
    private static List<String> with(String property, List<String> all) {
        boolean together = (property.equals(MODE) || property.equals(PATHS)) && all.containsAll(List.of(MODE, PATHS));
        return together ? List.of(MODE, PATHS) : List.of(property);
    }

    /**
     * Whether a property is among those that are applied: an instance that is configured in another way may not be able to
     * apply all of a change.
     */
    private static boolean isIn(RateLimitChange applied, String property) {
        return switch (property) {
            case LIMIT -> applied.limit() != null;
            case BURST -> applied.burst() != null;
            case MODE -> applied.mode() != null;
            case PENALTY -> applied.penalty() != null;
            case MAX_WAIT -> applied.maxWait() != null;
            case PATHS -> applied.paths() != null;
            default -> {
                RateLimitChange.OfPlan plan = applied.plans().get(property.substring(property.indexOf('.') + 1));
                yield plan != null && (property.startsWith(PLAN_LIMIT) ? plan.limit() : plan.burst()) != null;
            }
        };
    }

    private List<String> newestFirst() {
        return values.entrySet().stream()
                .filter(entry -> read(entry.getKey(), entry.getValue()) != null)
                .sorted(Comparator.comparingLong((Map.Entry<String, ChangedValue> entry) ->
                                entry.getValue().since())
                        .thenComparing(Map.Entry::getKey)
                        .reversed())
                .map(Map.Entry::getKey)
                .toList();
    }

    private RateLimitChange change(List<String> properties) {
        RateLimitChange change = new RateLimitChange(null, null, null);
        for (String property : properties) {
            RateLimitChange one = read(property, Objects.requireNonNull(values.get(property)));
            change = one == null ? change : one.after(change);
        }
        return change;
    }

    /** The change of a property that this version knows; {@code null} for others. */
    private static @Nullable RateLimitChange read(String property, ChangedValue value) {
        String to = value.to();
        try {
            return switch (property) {
                case LIMIT -> RateLimitChange.toLimit(to);
                case BURST -> RateLimitChange.toBurst(Long.parseLong(to));
                case MODE -> RateLimitChange.toMode(Mode.valueOf(to.toUpperCase(Locale.ROOT)));
                case PENALTY -> RateLimitChange.toPenalty(Duration.parse(to));
                case MAX_WAIT -> RateLimitChange.toMaxWait(Duration.parse(to));
                case PATHS -> new RateLimitChange(null, null, null).onPaths(to.split(","));
                default -> ofPlan(property, to);
            };
        } catch (IllegalArgumentException | DateTimeParseException e) {
            return null;
        }
    }

    private static @Nullable RateLimitChange ofPlan(String property, String to) {
        if (property.startsWith(PLAN_LIMIT)) {
            return RateLimitChange.toPlan(property.substring(PLAN_LIMIT.length()), to);
        }
        if (property.startsWith(PLAN_BURST)) {
            String plan = property.substring(PLAN_BURST.length());
            return new RateLimitChange(
                    null, null, null, null, null, Map.of(plan, new RateLimitChange.OfPlan(null, Long.valueOf(to))));
        }
        return null;
    }
}

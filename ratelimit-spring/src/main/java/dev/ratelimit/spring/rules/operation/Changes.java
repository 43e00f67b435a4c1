package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import dev.ratelimit.Rate;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.history.ChangedProperty;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What operators have changed: a register that instances replicate. It holds the last value of each property of each
 * policy, and the moment when that was accepted. Immutable.
 *
 * <p>Two registers are {@linkplain #and joined} by the later value of each property. The result depends neither on the
 * order in which instances learn of changes nor on how often, and no property ever returns to an earlier value. An
 * instance sends everything that it knows with each question, so a store that has lost something has it back with the
 * next one, also if that is a change. A change is accepted only from an instance that knows everything that is shared,
 * and gets a moment after all others. So it can miss another change only if the store has lost that one before anybody
 * else has read it; as soon as they meet, both are in force, or the later one if they set the same property.
 *
 * <p>A restored property keeps its moment, so that an older register does not bring its value back.
 *
 * @param values by property; those that this version does not know are kept for others
 */
public record Changes(Map<Property, Value> values) {

    /** No changes. */
    public static final Changes NONE = new Changes(Map.of());

    private static final String LIMIT = "limit";
    private static final String BURST = "burst";
    private static final String MODE = "mode";
    private static final String PENALTY = "penalty";
    private static final String MAX_WAIT = "max-wait";
    private static final String PATHS = "paths";

    /** The limit of a plan; the encoded name of the plan follows. */
    private static final String PLAN_LIMIT = "plan-limit.";

    /** The burst of a plan; the encoded name of the plan follows. */
    private static final String PLAN_BURST = "plan-burst.";

    private static final Pattern LINE = Pattern.compile("([!-~]+) ([!-~]+) (\\d{1,16}) ([!-~]*)");

    /** The last moment that a script of Redis counts to, in microseconds. */
    private static final long MAX_AT = (1L << 53) - 1;

    /**
     * A property of a policy.
     *
     * @param name limit, burst, mode, penalty, max-wait, paths, or the limit or the burst of a plan
     * @param policy the name of the policy, encoded
     */
    public record Property(String name, String policy) {}

    /**
     * The value of a property.
     *
     * @param at when it was accepted, in microseconds
     * @param text encoded, with its {@link ChangeNote note}; empty for the value of the configuration
     */
    public record Value(long at, String text) implements Comparable<Value> {

        /** By moment; at the same one, which clocks of two servers may show, by text, so that all instances agree. */
        @Override
        public int compareTo(Value other) {
            return at == other.at ? text.compareTo(other.text) : Long.compare(at, other.at);
        }
    }

    /** Copies the map. */
    public Changes {
        values = Map.copyOf(values);
    }

    /**
     * A change that is not accepted yet.
     *
     * @param fromConfiguration whether what it leaves out returns to the configuration
     */
    static Changes of(String policy, RateLimitChange change, boolean fromConfiguration) {
        Map<Property, Value> values = new HashMap<>();
        put(values, LIMIT, policy, change.limit(), fromConfiguration);
        put(values, BURST, policy, change.burst(), fromConfiguration);
        put(values, MODE, policy, change.mode(), fromConfiguration);
        put(values, PENALTY, policy, change.penalty(), fromConfiguration);
        put(values, MAX_WAIT, policy, change.maxWait(), fromConfiguration);
        List<String> paths = change.paths();
        put(values, PATHS, policy, paths == null ? null : String.join(",", paths), fromConfiguration);
        change.plans().forEach((plan, own) -> {
            put(values, PLAN_LIMIT + encoded(plan), policy, own.limit(), fromConfiguration);
            put(values, PLAN_BURST + encoded(plan), policy, own.burst(), fromConfiguration);
        });
        return new Changes(values);
    }

    /** A return to the configuration of everything that is known of a policy, which is not accepted yet. */
    Changes restoring(String policy) {
        Map<Property, Value> restored = new HashMap<>();
        values.keySet().stream()
                .filter(property -> property.policy().equals(encoded(policy)))
                .forEach(property -> restored.put(property, new Value(0, "")));
        return new Changes(restored);
    }

    private static void put(
            Map<Property, Value> values, String name, String policy, @Nullable Object value, boolean orEmpty) {
        if (value != null || orEmpty) {
            values.put(
                    new Property(name, encoded(policy)), new Value(0, value == null ? "" : encoded(value.toString())));
        }
    }

    /** The same changes with notes, by the name of the property. */
    Changes with(Function<String, ChangeNote> notes) {
        Map<Property, Value> noted = new HashMap<>();
        values.forEach((property, value) -> noted.put(
                property,
                value.text().isEmpty()
                        ? value
                        : new Value(value.at(), notes.apply(property.name()).after(value.text()))));
        return new Changes(noted);
    }

    /** The properties that are changed, by their names. */
    Set<String> names() {
        return values.keySet().stream().map(Property::name).collect(Collectors.toSet());
    }

    /** What is in force at this moment, in microseconds: what has ended has the value of the configuration. */
    Changes inForceAt(long micros) {
        Map<Property, Value> inForce = new HashMap<>();
        values.forEach((property, value) -> inForce.put(
                property, ChangeNote.of(value.text()).until() > micros ? value : new Value(value.at(), "")));
        return new Changes(inForce);
    }

    /** When the next of them ends after this moment, in microseconds. */
    long nextEnd(long micros) {
        return values.values().stream()
                .mapToLong(value -> ChangeNote.of(value.text()).until())
                .filter(until -> until > micros)
                .min()
                .orElse(ChangeNote.NEVER);
    }

    /** All properties that are changed, ordered by policy and name. */
    List<ChangedProperty> properties() {
        return values.entrySet().stream()
                .filter(entry -> read(entry.getKey(), entry.getValue()) != null)
                .map(entry -> new ChangedProperty(
                        decoded(entry.getKey().policy()),
                        entry.getKey().name(),
                        shown(entry.getKey(), entry.getValue()),
                        entry.getValue().at(),
                        ChangeNote.of(entry.getValue().text())))
                .sorted(Comparator.comparing(ChangedProperty::policy).thenComparing(ChangedProperty::name))
                .toList();
    }

    private static String shown(Property property, Value value) {
        String text = decoded(ChangeNote.valueOf(value.text()));
        return switch (property.name()) {
            case MODE -> PropertyName.of(Mode.valueOf(text));
            case PENALTY, MAX_WAIT -> {
                Duration time = Duration.parse(text);
                yield time.isZero() ? "none" : Rate.notation(time);
            }
            default -> text;
        };
    }

    /** The same changes, accepted at this moment. */
    public Changes at(long micros) {
        Map<Property, Value> accepted = new HashMap<>();
        values.forEach((property, value) -> accepted.put(property, new Value(micros, value.text())));
        return new Changes(accepted);
    }

    /** When the last of them was accepted, in microseconds; 0 if there are none. */
    public long latest() {
        return values.values().stream().mapToLong(Value::at).max().orElse(0);
    }

    /** Both: the later value of each property. */
    public Changes and(Changes other) {
        Map<Property, Value> both = new HashMap<>(values);
        other.values.forEach((property, value) ->
                both.merge(property, value, (mine, theirs) -> mine.compareTo(theirs) < 0 ? theirs : mine));
        return new Changes(both);
    }

    /** The names of the policies that are not as configured, in alphabetical order. */
    Set<String> policies() {
        return values.entrySet().stream()
                .filter(entry -> read(entry.getKey(), entry.getValue()) != null)
                .map(entry -> decoded(entry.getKey().policy()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** What replaces the configuration of a policy. */
    public RateLimitChange of(String policy) {
        return change(newestFirst(policy));
    }

    /**
     * What replaces the configuration of a policy on an instance for which not all of that may be valid: as many and as
     * new values as fit together.
     *
     * @param valid whether the instance can apply a change
     */
    RateLimitChange fitting(String policy, Predicate<RateLimitChange> valid) {
        List<Property> left = new ArrayList<>(newestFirst(policy));
        if (valid.test(change(left))) {
            return change(left);
        }
        List<Property> kept = new ArrayList<>();
        int before;
        do {
            before = left.size();
            // a value may fit only after an older one does
            for (Property property : List.copyOf(left)) {
                List<Property> tried = new ArrayList<>(kept);
                tried.add(property);
                if (valid.test(change(tried))) {
                    kept = tried;
                    left.remove(property);
                }
            }
        } while (left.size() < before);
        return change(kept);
    }

    /**
     * Whether a property is among those that are applied: an instance that is configured in another way may not be able to
     * apply all of a change.
     */
    static boolean isIn(@Nullable RateLimitChange applied, String property) {
        return applied != null
                && switch (property) {
                    case LIMIT -> applied.limit() != null;
                    case BURST -> applied.burst() != null;
                    case MODE -> applied.mode() != null;
                    case PENALTY -> applied.penalty() != null;
                    case MAX_WAIT -> applied.maxWait() != null;
                    case PATHS -> applied.paths() != null;
                    default -> {
                        RateLimitChange.OfPlan plan =
                                applied.plans().get(decoded(property.substring(property.indexOf('.') + 1)));
                        yield plan != null && (property.startsWith(PLAN_LIMIT) ? plan.limit() : plan.burst()) != null;
                    }
                };
    }

    private List<Property> newestFirst(String policy) {
        return values.entrySet().stream()
                .filter(entry -> entry.getKey().policy().equals(encoded(policy)))
                .filter(entry -> read(entry.getKey(), entry.getValue()) != null)
                .sorted(Map.Entry.<Property, Value>comparingByValue()
                        .thenComparing(entry -> entry.getKey().name())
                        .reversed())
                .map(Map.Entry::getKey)
                .toList();
    }

    private RateLimitChange change(List<Property> properties) {
        RateLimitChange change = new RateLimitChange(null, null, null);
        for (Property property : properties) {
            RateLimitChange one = read(property, values.get(property));
            change = one == null ? change : one.after(change);
        }
        return change;
    }

    /**
     * The change of a property that this version knows; {@code null} for others, and for a return to the configuration.
     */
    private static @Nullable RateLimitChange read(Property property, @Nullable Value value) {
        if (value == null || value.text().isEmpty()) {
            return null;
        }
        try {
            String text = decoded(ChangeNote.valueOf(value.text()));
            return switch (property.name()) {
                case LIMIT -> RateLimitChange.toLimit(text);
                case BURST -> RateLimitChange.toBurst(Long.parseLong(text));
                case MODE -> RateLimitChange.toMode(Mode.valueOf(text));
                case PENALTY -> RateLimitChange.toPenalty(Duration.parse(text));
                case MAX_WAIT -> RateLimitChange.toMaxWait(Duration.parse(text));
                case PATHS -> new RateLimitChange(null, null, null).onPaths(text.split(","));
                default -> ofPlan(property.name(), text);
            };
        } catch (IllegalArgumentException | DateTimeParseException e) {
            return null;
        }
    }

    private static @Nullable RateLimitChange ofPlan(String name, String text) {
        if (name.startsWith(PLAN_LIMIT)) {
            return RateLimitChange.toPlan(decoded(name.substring(PLAN_LIMIT.length())), text);
        }
        if (name.startsWith(PLAN_BURST)) {
            String plan = decoded(name.substring(PLAN_BURST.length()));
            return new RateLimitChange(
                    null, null, null, null, null, Map.of(plan, new RateLimitChange.OfPlan(null, Long.valueOf(text))));
        }
        return null;
    }

    /**
     * Reads {@link #toString}.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    public static Changes parse(String text) {
        Map<Property, Value> values = new HashMap<>();
        text.lines().forEach(line -> {
            Matcher matcher = LINE.matcher(line);
            if (!matcher.matches()
                    || !encoded(decoded(matcher.group(2))).equals(matcher.group(2))
                    || Long.parseLong(matcher.group(3)) > MAX_AT) {
                throw new IllegalArgumentException("not a change: " + Quotation.of(line));
            }
            values.put(
                    new Property(matcher.group(1), matcher.group(2)),
                    new Value(Long.parseLong(matcher.group(3)), matcher.group(4)));
        });
        return new Changes(values);
    }

    /** A line for each property, such as {@code limit per-user 1764000000000000 50%2Fminute&&alice&&100%2Fminute}. */
    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(entry -> entry.getKey().name() + " " + entry.getKey().policy() + " "
                        + entry.getValue().at() + " " + entry.getValue().text() + "\n")
                .sorted()
                .collect(Collectors.joining());
    }
}

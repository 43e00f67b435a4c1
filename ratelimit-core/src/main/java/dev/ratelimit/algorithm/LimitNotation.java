package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The written form of limits, for whoever keeps them outside of the JVM: a short text, such as
 * {@code v1 token-bucket 100/minute burst=200}, from which the very same limit is read again. Equal limits have equal texts.
 *
 * <p>A text is {@code v1}, the version of the notation; {@code penalty=} and a duration, if the limit has a
 * {@linkplain Penalty penalty}; the name of an algorithm; its rate; and its options, in the words of the configuration. It
 * consists of printable ASCII characters without semicolons, so several texts can be joined by semicolons. What has been
 * written by one version of the library can be read by all later ones.
 *
 * <p>{@link #STANDARD} knows the algorithms of this library; {@link #with} adds a custom one. Immutable.
 */
public final class LimitNotation {

    /** Knows all algorithms of this library. */
    public static final LimitNotation STANDARD = standard();

    private static final String VERSION = "v1 ";
    private static final String PENALTY = "penalty=";
    private static final int MAX_LENGTH = 1000;
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,40}");
    private static final Pattern PRINTABLE = Pattern.compile("[!-:<-~]([ -:<-~]*[!-:<-~])?");

    /** What follows the name, by class. */
    private final Map<Class<?>, Function<Limit, String>> writers;

    private final Map<String, Function<String, ? extends Limit>> readers;

    private LimitNotation(
            Map<Class<?>, Function<Limit, String>> writers, Map<String, Function<String, ? extends Limit>> readers) {
        this.writers = writers;
        this.readers = readers;
    }

    private static LimitNotation standard() {
        LimitNotation standard = new LimitNotation(new HashMap<>(), new HashMap<>());
        standard.add(Algorithm.TOKEN_BUCKET, TokenBucket.class, LimitNotation::burst);
        standard.add(
                Algorithm.TOKEN_BUCKET,
                IntervalTokenBucket.class,
                bucket -> burst(bucket).with("refill", "interval"));
        standard.add(
                Algorithm.FIXED_WINDOW,
                FixedWindow.class,
                window -> window.wallClock()
                        ? LimitOptions.NONE.with("align", "clock").with("zone", window.zone())
                        : LimitOptions.NONE);
        standard.add(
                Algorithm.SLIDING_WINDOW,
                SlidingWindow.class,
                window -> LimitOptions.NONE.with("rounding", window.rounding() == Rounding.FLOOR ? "floor" : null));
        standard.add(Algorithm.SLIDING_LOG, SlidingLog.class, log -> LimitOptions.NONE);
        standard.add(Algorithm.CONCURRENCY, Concurrency.class, limit -> LimitOptions.NONE);
        return standard;
    }

    private static LimitOptions burst(Limit bucket) {
        boolean usual = bucket.capacity() == bucket.rate().permits();
        return LimitOptions.NONE.with("burst", usual ? null : bucket.capacity());
    }

    private <L extends Limit> void add(Algorithm algorithm, Class<L> type, Function<L, LimitOptions> options) {
        writers.put(
                type,
                limit -> algorithm + " " + limit.rate()
                        + options.apply(type.cast(limit)).words());
        readers.put(algorithm.toString(), parameters -> read(algorithm, parameters));
    }

    private static Limit read(Algorithm algorithm, String parameters) {
        String[] words = parameters.split(" ", -1);
        LimitOptions options = LimitOptions.NONE;
        for (int i = 1; i < words.length; i++) {
            String[] option = words[i].split("=", 2);
            options = options.with(option[0], option[option.length - 1]);
        }
        return algorithm.limit(Rate.parse(words[0]), options);
    }

    /**
     * {@return a notation that also knows limits of a class} To read what has been written once, keep the name, and the
     * form of the parameters.
     *
     * @param name of the algorithm in texts: up to 41 lower-case letters, digits and hyphens; no other algorithm's
     * @param type the class of the limits; no other algorithm's
     * @param writer the parameters of a limit, equal for equal limits: printable ASCII characters without semicolons, and
     *     without spaces at either end; at most 900
     * @param reader the limit with these parameters; it throws an {@link IllegalArgumentException} for any other text
     * @param <L> the type of the limits
     * @throws IllegalArgumentException if the name is not valid, or the name or the class is known
     */
    public <L extends LimitAlgorithm> LimitNotation with(
            String name, Class<L> type, Function<? super L, String> writer, Function<String, ? extends L> reader) {
        if (!NAME.matcher(name).matches() || readers.containsKey(name) || writers.containsKey(type)) {
            throw new IllegalArgumentException(
                    "name must be up to 41 lower-case letters, digits and hyphens, and name and class"
                            + " must not be known yet but were " + shortened(name, 60) + " and " + type.getName());
        }
        LimitNotation all = new LimitNotation(new HashMap<>(writers), new HashMap<>(readers));
        all.writers.put(type, limit -> name + " " + checked(type, writer.apply(type.cast(limit))));
        all.readers.put(name, reader);
        return all;
    }

    private static String checked(Class<?> type, String parameters) {
        if (parameters.length() > MAX_LENGTH - 100
                || !PRINTABLE.matcher(parameters).matches()) {
            throw new IllegalArgumentException("parameters of " + type.getName()
                    + " must be up to 900 printable ASCII characters without semicolons but were '"
                    + shortened(parameters, 60) + "'");
        }
        return parameters;
    }

    /**
     * {@return the text of a limit}
     *
     * @param limit of an algorithm that this notation knows
     * @throws IllegalArgumentException if the algorithm is not known
     */
    public String of(Limit limit) {
        return limit instanceof Penalty penalty
                ? VERSION + PENALTY + Rate.notation(penalty.duration()) + " " + words(penalty.limit())
                : VERSION + words(limit);
    }

    private String words(Limit limit) {
        Function<Limit, String> writer = writers.get(limit.getClass());
        if (writer == null) {
            throw new IllegalArgumentException(
                    limit.getClass().getName() + " has no written form; add it by LimitNotation.with");
        }
        return writer.apply(limit);
    }

    /**
     * {@return the limit of a text}
     *
     * @param text what {@link #of} returned, of this version of the library or a former one
     * @throws IllegalArgumentException if it is any other text, or of an algorithm that is not known; the message says what
     *     is wrong, and quotes the beginning of the text
     */
    public Limit parse(String text) {
        try {
            if (text.length() > MAX_LENGTH) {
                throw new IllegalArgumentException("it has " + text.length() + " characters");
            }
            Limit limit = read(text);
            if (!of(limit).equals(text)) {
                throw new IllegalArgumentException("it would be written '" + of(limit) + "'");
            }
            return limit;
        } catch (RuntimeException e) { // whatever a custom reader throws
            String why = shortened(String.valueOf(e.getMessage()), 200);
            throw new IllegalArgumentException("'" + shortened(text, 60) + "' is not the text of a limit: " + why, e);
        }
    }

    private Limit read(String text) {
        if (!text.startsWith(VERSION)) {
            throw new IllegalArgumentException("it does not begin with '" + VERSION + "', the version of the notation");
        }
        String words = text.substring(VERSION.length());
        if (!words.startsWith(PENALTY)) {
            return readWords(words);
        }
        String[] parts = words.split(" ", 2);
        Rate penalty = Rate.parse("1/" + parts[0].substring(PENALTY.length()));
        return Policy.of("any", readWords(parts[parts.length - 1]))
                .withPenalty(Duration.ofNanos(penalty.periodNanos()))
                .limits()
                .get(0);
    }

    private Limit readWords(String words) {
        String[] parts = words.split(" ", 2);
        Function<String, ? extends Limit> reader = readers.get(parts[0]);
        if (reader == null || parts.length == 1) {
            throw new IllegalArgumentException(
                    "no algorithm is named '" + shortened(parts[0], 60) + "', or its parameters are missing");
        }
        return reader.apply(parts[1]);
    }

    /** The beginning of the text, safe to print. */
    private static String shortened(String text, int length) {
        String beginning = text.length() <= length ? text : text.substring(0, length) + "...";
        return beginning.replaceAll("[^ -~]", "?");
    }
}

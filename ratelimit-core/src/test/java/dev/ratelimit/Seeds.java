package dev.ratelimit;

import java.lang.StackWalker.Option;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The seeds of random tests. Each class has a sequence of its own that is the same in every run, so that a build fails
 * for its change and not by chance. {@code -Dseed=random} draws others, {@code -Dseed=} and a number repeats one.
 */
public final class Seeds {

    private static final String CHOICE = System.getProperty("seed", "");
    private static final Map<Class<?>, Random> SEQUENCES = new ConcurrentHashMap<>();

    private Seeds() {}

    /** The next seed for {@link Random} of the class that calls this; a failing test prints it. */
    public static long next() {
        return next(StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE).getCallerClass());
    }

    static long next(Class<?> test) {
        return switch (CHOICE) {
            case "" ->
                sequence(test, () -> new Random(test.getName().hashCode())).nextLong();
            case "random" -> sequence(test, Random::new).nextLong();
            default -> Long.parseLong(CHOICE);
        };
    }

    private static Random sequence(Class<?> test, Supplier<Random> first) {
        return SEQUENCES.computeIfAbsent(test, unknown -> first.get());
    }
}

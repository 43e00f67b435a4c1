package dev.ratelimit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs a scenario as often as it calls collaborators, and each time another one of these calls throws. */
public final class EveryCall {

    private static final String TEXT = "injected by a test";

    private static final List<Supplier<Throwable>> THROWN =
            List.of(() -> new IllegalStateException(TEXT), () -> new OutOfMemoryError(TEXT));

    private EveryCall() {}

    /** Whether this was thrown by a fuse, or because of it. */
    public static boolean isInjected(@Nullable Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (TEXT.equals(cause.getMessage())) {
                return true;
            }
        }
        return false;
    }

    /** A way to create scenarios: by a constructor with a fuse. */
    static Function<Fuse, Scenario> creating(Class<? extends Scenario> type) {
        return fuse -> {
            try {
                Constructor<? extends Scenario> constructor = type.getDeclaredConstructor(Fuse.class);
                constructor.setAccessible(true);
                return constructor.newInstance(fuse);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    /**
     * Lets each call of a scenario throw once: an exception and an error. Returns how many calls there were.
     *
     * @param scenario is created anew each time, with a fuse for its collaborators
     */
    public static int throwsOnce(Class<? extends Scenario> scenario) {
        return throwsOnce(creating(scenario));
    }

    /**
     * Like {@link #throwsOnce(Class)}, for scenarios that are not created by a constructor alone.
     *
     * @param scenarios a new scenario each time, with collaborators on this fuse
     */
    public static int throwsOnce(Function<Fuse, ? extends Scenario> scenarios) {
        int most = 0;
        for (Supplier<Throwable> thrown : THROWN) {
            int calls = 0;
            while (throwsAt(calls + 1, thrown, scenarios)) {
                calls++;
            }
            most = Math.max(most, calls);
        }
        return most;
    }

    /** Returns false if there is no n-th call. */
    private static boolean throwsAt(int n, Supplier<Throwable> thrown, Function<Fuse, ? extends Scenario> scenarios) {
        Fuse fuse = new Fuse();
        Scenario scenario = scenarios.apply(fuse);
        Thread thread = Thread.currentThread();
        UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        List<Throwable> uncaught = new ArrayList<>();
        thread.setUncaughtExceptionHandler((where, what) -> uncaught.add(what));
        fuse.armed(n, thrown);
        try {
            scenario.run();
        } catch (Throwable e) {
            uncaught.add(e);
        }
        boolean burnt = fuse.disarmed();
        try {
            assertThat(uncaught).as("thrown").allMatch(EveryCall::isInjected);
            scenario.check();
        } catch (Throwable e) {
            throw new AssertionError("after call %d (%s) threw: %s".formatted(n, fuse.place(), e), e);
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        return burnt;
    }
}

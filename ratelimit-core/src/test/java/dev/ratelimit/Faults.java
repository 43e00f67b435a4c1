package dev.ratelimit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Makes a call to something foreign fail: in one run the first call, in the next one the second, and so on, until a run
 * has no call that has not failed yet. A test asks after each run what is stuck, lost, charged twice or held. Thread-safe.
 */
public final class Faults {

    /** What calls return that is foreign as well. */
    private static final Set<Class<?>> FOREIGN = Set.of(Scheduler.Alarm.class, Executor.class);

    private final int failing;
    private final Supplier<? extends Throwable> failure;
    private int calls;
    private boolean over;
    private @Nullable String failed;
    private @Nullable Throwable thrown;

    private Faults(int failing, Supplier<? extends Throwable> failure) {
        this.failing = failing;
        this.failure = failure;
    }

    /**
     * Runs with each call failing once.
     *
     * @return in how many runs a call has failed
     */
    public static int inTurn(Supplier<? extends Throwable> failure, Consumer<Faults> run) {
        int failing = 0;
        Faults faults;
        Map<String, Throwable> harmful = new LinkedHashMap<>();
        do {
            failing++;
            faults = new Faults(failing, failure);
            try {
                run.accept(faults);
            } catch (RuntimeException | Error e) {
                if (faults.thrown != null) {
                    e.addSuppressed(faults.thrown);
                }
                harmful.put(faults.toString(), e);
            }
        } while (faults.failed() != null);
        if (!harmful.isEmpty()) {
            AssertionError all = new AssertionError(harmful.size() + " faults do harm: " + harmful);
            harmful.values().forEach(all::addSuppressed);
            throw all;
        }
        return failing - 1;
    }

    /** A scenario, with its name first, once for each kind of throwable that calls may fail with. */
    public static Stream<Arguments> ofEachKind(Arguments scenario) {
        return Stream.<Supplier<Throwable>>of(
                        () -> new IllegalStateException("fault"), () -> new AssertionError("fault"))
                .map(failure -> Arguments.of(
                        scenario.get()[0] + ", " + failure.get().getClass().getSimpleName(),
                        scenario.get()[1],
                        failure));
    }

    /** The same object, whose methods may fail instead of doing anything. */
    public <T> T in(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                Faults.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> invoke(target, method, arguments)));
    }

    private @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        if (method.getDeclaringClass() != Object.class) {
            call(method.getDeclaringClass().getSimpleName() + "." + method.getName());
        }
        try {
            Object result = method.invoke(target, arguments);
            return result != null && FOREIGN.contains(method.getReturnType())
                    ? wrap(method.getReturnType(), result)
                    : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @SuppressWarnings("unchecked") // the result of a method is of its type
    private <T> Object wrap(Class<T> type, Object target) {
        return in(type, (T) target);
    }

    /** A call of something that cannot be replaced by an object that fails. */
    public void call(String name) {
        synchronized (this) {
            if (over || ++calls != failing) {
                return;
            }
            failed = name;
            thrown = failure.get();
        }
        Faults.<RuntimeException>fail(thrown);
    }

    /** Throws also what callers need not declare. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void fail(Throwable failure) throws E {
        throw (E) failure;
    }

    /** Nothing fails from now on. */
    public synchronized void end() {
        over = true;
    }

    /** The call that has failed, such as {@code RateLimitStore.refund}; {@code null} if none has. */
    public synchronized @Nullable String failed() {
        return failed;
    }

    /** For messages. */
    @Override
    public synchronized String toString() {
        return failed == null ? "no call failed" : "call " + failing + " failed: " + failed;
    }
}

package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodClassKey;

/** The mistakes that several checks find, which are reported together: the first one of each place. Not thread-safe. */
public final class Mistakes {

    private final Set<Object> places = new HashSet<>();
    private final Map<String, Class<?>> owners = new HashMap<>();
    private @Nullable RateLimitConfigurationException first;

    /** Keeps the mistake that a check of properties finds, for later. */
    void collect(Runnable check) {
        try {
            check.run();
        } catch (RateLimitConfigurationException e) {
            add(e);
        }
    }

    /**
     * Keeps the mistake that a check of annotations finds, for later. Methods of a class that is itself mistaken are not
     * checked.
     *
     * @param method {@code null} if the class itself is checked
     */
    public void collect(Class<?> type, @Nullable Method method, Runnable check) {
        Object place = method == null ? type : new MethodClassKey(method, type);
        if (places.contains(type) || places.contains(place)) {
            return;
        }
        try {
            check.run();
        } catch (RateLimitConfigurationException e) {
            places.add(place);
            Class<?> owner = owners.putIfAbsent(type.getSimpleName(), type);
            add(owner == null || owner == type ? e : withFullName(e, type));
        }
    }

    /** Another class has the same simple name. */
    private static RateLimitConfigurationException withFullName(
            RateLimitConfigurationException mistake, Class<?> type) {
        return new RateLimitConfigurationException(
                mistake.where().replace(" on " + type.getSimpleName(), " on " + type.getName()),
                mistake.written(),
                mistake.remedy() == null ? mistake.reason() : mistake.reason() + "; " + mistake.remedy());
    }

    private void add(RateLimitConfigurationException mistake) {
        if (first == null) {
            first = mistake;
        } else {
            first.addSuppressed(mistake);
        }
    }

    /**
     * Ends the checks.
     *
     * @throws RateLimitConfigurationException the first mistake, if there is any; suppressed, the others
     */
    public void report() {
        if (first != null) {
            throw first;
        }
    }
}

package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A group of properties, for messages about mistakes in them.
 *
 * @param path such as {@code ratelimit.policies.login}
 */
record Section(String path) {

    /** The properties of a policy. */
    static Section ofPolicy(String name) {
        return new Section("ratelimit.policies." + name);
    }

    /** A group within this one. */
    Section below(String group) {
        return new Section(path + "." + group);
    }

    /** A mistake in a property, or in the whole group if the property is empty. */
    RateLimitConfigurationException mistake(String property, @Nullable Object written, String reason) {
        return new RateLimitConfigurationException(
                property.isEmpty() ? path : path + "." + property, written == null ? null : written.toString(), reason);
    }

    /**
     * Returns what is read from a property.
     *
     * @throws RateLimitConfigurationException if reading throws an {@link IllegalArgumentException}
     */
    <T> T checked(String property, @Nullable String written, Supplier<T> read) {
        try {
            return read.get();
        } catch (IllegalArgumentException e) {
            throw mistake(property, written, String.valueOf(e.getMessage()));
        }
    }
}

package dev.ratelimit.spring.boot.autoconfigure;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * One property as Spring Boot binds it, for conditions, which are evaluated before all properties are bound:
 * {@code on}, {@code yes} and {@code 1} are true, and enums are read in any spelling.
 */
final class BoundProperty {

    private BoundProperty() {}

    /** The value; {@code otherwise} if it is missing, or cannot be bound, which binding all properties reports. */
    @SuppressWarnings("unchecked")
    static <T> T of(Environment environment, String name, T otherwise) {
        try {
            return Binder.get(environment)
                    .bind(name, (Class<T>) otherwise.getClass())
                    .orElse(otherwise);
        } catch (BindException e) {
            return otherwise;
        }
    }
}

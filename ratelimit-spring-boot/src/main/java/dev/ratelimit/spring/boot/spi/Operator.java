package dev.ratelimit.spring.boot.spi;

import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Who operates the application: the caller of the request that the current thread answers, such as to the actuator. */
public interface Operator {

    /** The name of a caller who has none. */
    String ANONYMOUS = "anonymous";

    /** The name of the caller; {@code null} if the thread answers no request. */
    @Nullable
    String name();

    /**
     * Runs an operation that the caller has asked for.
     *
     * @param caller as Spring Boot knows it; {@code null} for an anonymous one
     */
    default <T extends @Nullable Object> T run(@Nullable Principal caller, Supplier<T> operation) {
        return operation.get();
    }

    /** Whether the request has a query; false without a request. */
    boolean sentQuery();

    /** Sets a header of the response, if there is one. */
    void setHeader(String name, String value);

    /** Adds a header to the response, if there is one. */
    void addHeader(String name, String value);
}

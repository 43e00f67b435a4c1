package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.boot.spi.Operator;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The caller of the operation of the actuator that the current thread runs: WebFlux runs operations on threads that know
 * nothing of their request. {@link OperatorFilter} knows the request.
 */
public final class ReactiveOperator implements Operator {

    private final ThreadLocal<@Nullable String> name = new ThreadLocal<>();

    @Override
    public @Nullable String name() {
        return name.get();
    }

    @Override
    public <T extends @Nullable Object> T run(@Nullable Principal caller, Supplier<T> operation) {
        name.set(caller == null ? ANONYMOUS : caller.getName());
        try {
            return operation.get();
        } finally {
            name.remove();
        }
    }

    @Override
    public boolean sentQuery() {
        return false;
    }

    @Override
    public void setHeader(String header, String value) {
        // the filter sets them
    }

    @Override
    public void addHeader(String header, String value) {
        // the filter adds them
    }
}

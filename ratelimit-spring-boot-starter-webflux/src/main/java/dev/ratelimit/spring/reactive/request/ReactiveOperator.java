package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.boot.spi.Operator;
import org.jspecify.annotations.Nullable;

/** The caller of the request that the current thread works for. */
public final class ReactiveOperator implements Operator {

    @Override
    public @Nullable String name() {
        return null;
    }

    @Override
    public boolean sentQuery() {
        return false;
    }

    @Override
    public void setHeader(String name, String value) {}

    @Override
    public void addHeader(String name, String value) {}
}

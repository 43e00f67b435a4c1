package dev.ratelimit.spring.boot.spi;

import java.util.Collection;

/** Receives all policies at the start, and again whenever there may be others: by a changed configuration, or by operators. */
@FunctionalInterface
public interface PolicyObserver {

    void watch(Collection<String> policies);
}

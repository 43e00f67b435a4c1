package dev.ratelimit.spring.boot.spi;

import java.util.Collection;

/** Receives all policies at the start, and again whenever a changed configuration has others. */
@FunctionalInterface
public interface PolicyObserver {

    void watch(Collection<String> policies);
}

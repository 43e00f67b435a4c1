package dev.ratelimit.spring.autoconfigure;

import java.util.Collection;

/** Receives all policies at the start, and again whenever a changed configuration has others. */
@FunctionalInterface
interface PolicyObserver {

    void watch(Collection<String> policies);
}

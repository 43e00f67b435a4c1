package dev.ratelimit.spring.autoconfigure;

import java.util.Collection;

/** Receives the policies in force at the start. */
@FunctionalInterface
interface PolicyObserver {

    void watch(Collection<String> policies);
}

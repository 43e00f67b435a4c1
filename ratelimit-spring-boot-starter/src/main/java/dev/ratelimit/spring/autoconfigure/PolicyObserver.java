package dev.ratelimit.spring.autoconfigure;

import java.util.Collection;

/** Is told at the start which policies are in force. */
@FunctionalInterface
interface PolicyObserver {

    void watch(Collection<String> policies);
}

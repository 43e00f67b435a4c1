package dev.ratelimit.spring.boot.spi;

import dev.ratelimit.Policy;
import java.util.List;

/** Prepares a store for its first decision. */
public interface StoreWarmUp {

    /** Asks about these policies before the first request, and charges nothing. */
    void ask(List<Policy> policies);
}

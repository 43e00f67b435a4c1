package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Policy;
import java.util.List;

/** Prepares a store for its first decision. */
interface StoreWarmUp {

    /** Asks about these policies before the first request, and charges nothing. */
    void ask(List<Policy> policies);
}

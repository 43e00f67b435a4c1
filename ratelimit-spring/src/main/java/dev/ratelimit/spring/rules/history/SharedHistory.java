package dev.ratelimit.spring.rules.history;

/** Where instances share the history of their changes. Called by one thread at a time. */
@FunctionalInterface
public interface SharedHistory {

    /**
     * Tells everything that an instance knows.
     *
     * @return everything that is shared now
     * @throws IllegalStateException if the history cannot be shared at the moment
     */
    History exchange(History known);
}

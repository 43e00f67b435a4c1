package dev.ratelimit.spring.rules;

/** Where instances share their changes of policies. Called by one thread at a time. */
@FunctionalInterface
public interface SharedChanges {

    /**
     * Shares the next changes, unless another instance was first.
     *
     * @return what is shared now: {@code next}, or what the other instance shared
     * @throws IllegalStateException if it cannot be shared at the moment
     */
    Changes replace(Changes next);
}

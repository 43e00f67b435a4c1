package dev.ratelimit.spring.rules.history;

import org.jspecify.annotations.Nullable;

/** Where instances share what operators change. Called by one thread at a time. */
@FunctionalInterface
public interface SharedChanges {

    /**
     * Makes a change, unless another instance has changed the same; what that was, is {@linkplain ChangeStore#adopt adopted}
     * then.
     *
     * @param known the text that is changed, as this instance knows it
     * @return when it was accepted; {@code null} if it was not
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    ChangeStore.@Nullable Accepted change(ChangeStore.Change change, String known);
}

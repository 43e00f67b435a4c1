package dev.ratelimit.spring.rules.override;

/** Where instances share the overrides of keys that operators set. Called by one thread at a time. */
@FunctionalInterface
public interface SharedOverrides {

    /**
     * The answer.
     *
     * @param all everything that is shared now, an override that was accepted included
     * @param accepted whether the instance knew everything, so that its override is in force
     */
    record Answer(Overrides all, boolean accepted) {}

    /**
     * Sets an override, unless others have set some that the instance does not know.
     *
     * @param known what the instance knows; may be more than what is shared
     * @param key whose override it is
     * @param value not accepted yet
     * @throws IllegalStateException if overrides cannot be shared at the moment
     */
    Answer exchange(Overrides known, Overrides.Key key, Overrides.Value value);
}

package dev.ratelimit.spring.rules.operation;

/** Where instances share their changes of policies. Called by one thread at a time. */
@FunctionalInterface
public interface SharedChanges {

    /**
     * The answer.
     *
     * @param all everything that is shared now, a change that was accepted included
     * @param accepted whether the instance knew everything, so that its change is in force
     */
    record Answer(Changes all, boolean accepted) {}

    /**
     * Tells everything that an instance knows, and makes a change, unless others have made some that it does not know.
     *
     * @param known what the instance knows; may be more than what is shared
     * @param change what to change; {@link Changes#NONE} only to read
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    Answer exchange(Changes known, Changes change);
}

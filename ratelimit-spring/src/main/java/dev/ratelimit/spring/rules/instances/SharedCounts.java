package dev.ratelimit.spring.rules.instances;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where instances tell each other what they have counted. Thread-safe. */
public interface SharedCounts {

    /**
     * Another instance that runs, as far as is known.
     *
     * @param name for people
     * @param ageMillis how long ago it has told its summary, by the clock of the server; 0 without one
     * @param summary {@code null} if there is none, or none that this version can read
     */
    record Told(String name, long ageMillis, @Nullable CountsSummary summary) {}

    /** The name of this instance, for people. */
    String name();

    /** How many instances run, this one included, as far as is known. */
    int running();

    /**
     * What the others have told.
     *
     * @throws IllegalStateException if nobody can be asked at the moment
     */
    List<Told> others();
}

package dev.ratelimit.memory.storm;

import dev.ratelimit.storm.Histories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs {@link Histories}. */
class InMemoryStormTest {

    private static final Histories<Step, History> HISTORIES = new Histories<>(
            History::draw, Storm::run, History::setup, "-pl ratelimit-core test -Dtest=InMemoryStormTest");

    @Test
    void anyHistory_holdsWhatIsPromised() {
        HISTORIES.runChosen(2_000);
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        HISTORIES.run(1_000_000, 1_000);
    }

    @Test
    @Tag("nightly")
    void evenMoreHistories_holdWhatIsPromised() {
        HISTORIES.run(1_001_000, 19_000);
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        HISTORIES.requireRepeatable(100);
    }
}

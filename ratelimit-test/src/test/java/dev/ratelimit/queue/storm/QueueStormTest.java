package dev.ratelimit.queue.storm;

import dev.ratelimit.storm.Histories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs {@link Histories}. */
class QueueStormTest {

    private static final Histories<Step, History> HISTORIES = new Histories<>(
            History::draw,
            Storm::run,
            History::setup,
            "-pl ratelimit-test -am test -Dtest=QueueStormTest -Dsurefire.failIfNoSpecifiedTests=false");

    @Test
    void anyHistory_holdsWhatIsPromised() {
        HISTORIES.runChosen(3_000);
    }

    @Test
    @Tag("nightly")
    void manyHistories_holdWhatIsPromised() {
        HISTORIES.run(1_000_000, 60_000);
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        HISTORIES.requireRepeatable(100);
    }
}

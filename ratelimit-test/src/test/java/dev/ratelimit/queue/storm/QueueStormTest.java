package dev.ratelimit.queue.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Histories;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs {@link Histories}. */
class QueueStormTest {

    /** With fewer steps, others do them at other places: so many orders are tried. */
    private static final int ORDERS = 40;

    private static final Histories<History> HISTORIES = new Histories<>(
            History::draw,
            Storm::run,
            QueueStormTest::shrink,
            History::setup,
            "-pl ratelimit-test -am test -Dtest=QueueStormTest -Dsurefire.failIfNoSpecifiedTests=false");

    @Test
    void anyHistory_holdsWhatIsPromised() {
        HISTORIES.runChosen(10_000);
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        HISTORIES.run(1_000_000, 60_000);
    }

    /** A failing history without the steps that do not matter. */
    private static History shrink(History failing) {
        History shortest = failing;
        for (int i = failing.steps().size() - 1; i >= 0; i--) {
            List<Step> steps = new ArrayList<>(shortest.steps());
            steps.remove(i);
            for (int order = 0; order < ORDERS; order++) {
                long other = order == 0 ? shortest.order() : order;
                History shorter = new History(other, shortest.setup(), List.copyOf(steps));
                if (Storm.run(shorter) != null) {
                    shortest = shorter;
                    break;
                }
            }
        }
        return shortest;
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        for (long seed = 0; seed < 100; seed++) {
            assertThat(HISTORIES.timeline(seed)).as("seed %s", seed).isEqualTo(HISTORIES.timeline(seed));
        }
    }
}

package dev.ratelimit.queue.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs histories. {@code -Dstorm.from=} and {@code -Dstorm.histories=} choose the seeds; one history with a failing seed
 * runs it again.
 */
class QueueStormTest {

    /** With fewer steps, others do them at other places: so many orders are tried. */
    private static final int ORDERS = 40;

    @Test
    void anyHistory_holdsWhatIsPromised() {
        run(Long.getLong("storm.from", 0), Long.getLong("storm.histories", 10_000));
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        run(1_000_000, 200_000);
    }

    private static void run(long from, long histories) {
        LongStream.range(from, from + histories).parallel().forEach(QueueStormTest::run);
    }

    private static void run(long seed) {
        History history = History.draw(seed);
        if (Storm.run(history) != null) {
            History shortest = shrink(history);
            List<String> timeline = new ArrayList<>();
            Throwable failure = Storm.run(shortest, timeline);
            throw new AssertionError("""
                    history %d fails; to run it again: mvn -pl ratelimit-test -am test -Dtest=QueueStormTest \
                    -Dsurefire.failIfNoSpecifiedTests=false -Dstorm.histories=1 -Dstorm.from=%d
                    %s
                    %s""".formatted(seed, seed, shortest.setup(), String.join("\n", timeline)), failure);
        }
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
            assertThat(timeline(seed)).as("seed %s", seed).isEqualTo(timeline(seed));
        }
    }

    private static List<String> timeline(long seed) {
        List<String> timeline = new ArrayList<>();
        assertThat(Storm.run(History.draw(seed), timeline)).isNull();
        return timeline;
    }
}

package dev.ratelimit.redis.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs histories. {@code -Dstorm.from=} and {@code -Dstorm.histories=} choose the seeds; one history with a failing seed
 * runs it again.
 */
class StormTest {

    private static final int BUILD = 100;

    private static final java.util.logging.Logger LOG = java.util.logging.Logger.getLogger("dev.ratelimit.redis");

    /** What instances log is in the timelines, as far as it matters. */
    @BeforeAll
    static void silence() {
        LOG.setLevel(java.util.logging.Level.OFF);
    }

    @AfterAll
    static void speak() {
        LOG.setLevel(null);
    }

    @Test
    void anyHistory_holdsWhatIsPromised() {
        run(Long.getLong("storm.from", 0), Long.getLong("storm.histories", BUILD));
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        run(BUILD, 300 - BUILD);
        run(1_000_000, Boolean.getBoolean("redis.long") ? 10_000 : 3_000);
    }

    private static void run(long from, long histories) {
        LongStream.range(from, from + histories).parallel().forEach(StormTest::run);
    }

    private static void run(long seed) {
        History history = History.draw(seed);
        if (Storm.run(history) != null) {
            History shortest = Shrinker.shrink(history, shorter -> Storm.run(shorter) != null);
            List<String> timeline = new ArrayList<>();
            Throwable failure = Storm.run(shortest, timeline);
            throw new AssertionError("""
                    history %d fails; to run it again: mvn -pl ratelimit-redis -am test -Dtest=StormTest \
                    -Dsurefire.failIfNoSpecifiedTests=false -Dstorm.histories=1 -Dstorm.from=%d
                    %s
                    %s""".formatted(seed, seed, shortest.setup(), String.join("\n", timeline)), failure);
        }
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        for (long seed = 0; seed < 50; seed++) {
            assertThat(timeline(seed)).as("seed %s", seed).isEqualTo(timeline(seed));
        }
    }

    private static List<String> timeline(long seed) {
        List<String> timeline = new ArrayList<>();
        assertThat(Storm.run(History.draw(seed), timeline)).isNull();
        return timeline;
    }

    @Test
    void shrink_leavesOnlyTheStepsThatMatter() {
        History history = History.draw(1);
        Set<Step> matter = Set.of(history.steps().get(3), history.steps().get(17));

        History shortest = Shrinker.shrink(history, shorter -> shorter.steps().containsAll(matter));

        assertThat(shortest.steps().stream().collect(Collectors.toSet())).isEqualTo(matter);
    }
}

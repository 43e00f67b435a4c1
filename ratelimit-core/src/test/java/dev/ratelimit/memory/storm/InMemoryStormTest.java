package dev.ratelimit.memory.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Histories;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs {@link Histories}. */
class InMemoryStormTest {

    private static final Histories<History> HISTORIES = new Histories<>(
            History::draw,
            Storm::run,
            failing -> Shrinker.shrink(failing, shorter -> Storm.run(shorter) != null),
            History::setup,
            "-pl ratelimit-core test -Dtest=InMemoryStormTest");

    @Test
    void anyHistory_holdsWhatIsPromised() {
        HISTORIES.runChosen(2_000);
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        HISTORIES.run(1_000_000, 20_000);
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        for (long seed = 0; seed < 100; seed++) {
            assertThat(HISTORIES.timeline(seed)).as("seed %s", seed).isEqualTo(HISTORIES.timeline(seed));
        }
    }

    @Test
    void shrink_leavesOnlyTheStepsThatMatter() {
        History history = History.draw(1);
        Set<Step> matter = Set.of(history.steps().get(1), history.steps().get(3));

        History shortest = Shrinker.shrink(history, shorter -> shorter.steps().containsAll(matter));

        assertThat(shortest.steps().stream().collect(Collectors.toSet())).isEqualTo(matter);
    }
}

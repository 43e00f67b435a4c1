package dev.ratelimit.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HistoriesTest {

    private record Numbers(long order, boolean plain, List<Integer> steps) implements Shrinkable<Integer, Numbers> {

        static Numbers draw(long seed) {
            return new Numbers(seed, false, IntStream.range(0, 20).boxed().toList());
        }

        @Override
        public Numbers with(List<Integer> others) {
            return new Numbers(order, plain, others);
        }

        @Override
        public Stream<Numbers> reordered() {
            return LongStream.range(0, 5).mapToObj(other -> new Numbers(other, plain, steps));
        }

        @Override
        public Stream<Numbers> simplified() {
            return plain ? Stream.empty() : Stream.of(new Numbers(order, true, steps));
        }
    }

    @Test
    void shrink_leavesOnlyTheStepsThatMatter() {
        Numbers shortest = shrink(history -> history.steps().containsAll(List.of(3, 17)));

        assertThat(shortest).isEqualTo(new Numbers(9, true, List.of(3, 17)));
    }

    @Test
    void shrink_ofWhatFailsInAnotherOrderOnly_findsThatOrder() {
        // without a step, each other order fails instead
        Numbers shortest = shrink(history -> history.steps().contains(8)
                && history.order() == history.steps().size() % 5L);

        assertThat(shortest).isEqualTo(new Numbers(1, true, List.of(8)));
    }

    private static Numbers shrink(Predicate<Numbers> fails) {
        return new Shrinker<>(fails).shrink(Numbers.draw(9));
    }

    @Test
    void run_ofAFailingHistory_reportsItsShortestForm() {
        Histories<Integer, Numbers> histories =
                histories(history -> history.order() == 9 && history.steps().contains(5) ? "five" : null);

        assertThatThrownBy(() -> histories.run(0, 20))
                .hasStackTraceContaining("""
                history 9 fails; to run it again: mvn -Dtest=ATest -Dstorm.histories=1 -Dstorm.from=9
                true
                step 5
                """)
                .hasRootCauseMessage("five");
        assertThatCode(() -> histories.run(10, 20)).doesNotThrowAnyException();
    }

    @Test
    void run_ofAHistoryThatFailsOnce_saysSo() {
        Iterator<@Nullable String> failures = Stream.of("once", "").iterator();
        Histories<Integer, Numbers> histories =
                histories(history -> failures.hasNext() && failures.next().length() > 0 ? "once" : null);

        assertThatThrownBy(() -> histories.run(0, 1)).hasMessageContaining("IT HOLDS WHEN REPEATED");
    }

    @Test
    void requireRepeatable_ofWhatDependsOnChance_fails() {
        List<Integer> runs = new ArrayList<>();
        Histories.Storm<Numbers> storm = (history, timeline) -> {
            runs.add(0);
            timeline.note(() -> "run " + runs.size());
            return null;
        };

        assertThatThrownBy(() -> new Histories<>(Numbers::draw, storm, Numbers::plain, "").requireRepeatable(1))
                .hasMessageContaining("seed 0");
    }

    private static Histories<Integer, Numbers> histories(Function<Numbers, @Nullable String> verdict) {
        return new Histories<>(
                Numbers::draw,
                (history, timeline) -> {
                    history.steps().forEach(step -> timeline.note(() -> "step " + step));
                    String failure = verdict.apply(history);
                    return failure == null ? null : new AssertionError(failure);
                },
                Numbers::plain,
                "-Dtest=ATest");
    }
}

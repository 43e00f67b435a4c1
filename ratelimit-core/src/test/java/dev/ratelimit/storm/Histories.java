package dev.ratelimit.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The histories of a storm, each drawn from its seed. {@code -Dstorm.from=} and {@code -Dstorm.histories=} choose the seeds;
 * one history with a failing seed runs it again.
 *
 * @param draw draws a history
 * @param storm runs it
 * @param about what a report says before the timeline
 * @param again the arguments of Maven that run one again
 */
public record Histories<S, H extends Shrinkable<S, H>>(
        LongFunction<H> draw, Storm<H> storm, Function<H, ?> about, String again) {

    /** Runs a history. */
    @FunctionalInterface
    public interface Storm<H> {

        /**
         * Runs a history.
         *
         * @return what is wrong; {@code null} if nothing is
         */
        @Nullable
        Throwable run(H history, Timeline timeline);
    }

    /**
     * Runs the histories that the system properties choose.
     *
     * @param otherwise how many, from seed 0, if they do not
     */
    public void runChosen(long otherwise) {
        run(Long.getLong("storm.from", 0), Long.getLong("storm.histories", otherwise));
    }

    /** Runs the histories of so many seeds; throws the shortest form of one that fails. */
    public void run(long from, long histories) {
        LongStream.range(from, from + histories).parallel().forEach(this::run);
    }

    private void run(long seed) {
        H history = draw.apply(seed);
        if (fails(history)) {
            H shortest = new Shrinker<>(this::fails).shrink(history);
            String headline = "history %d fails; to run it again: mvn %s -Dstorm.histories=1 -Dstorm.from=%d"
                    .formatted(seed, again, seed);
            List<String> timeline = requireHolds(headline, shortest);
            throw new AssertionError(report(headline + "\nIT HOLDS WHEN REPEATED", shortest, timeline));
        }
    }

    private boolean fails(H history) {
        return storm.run(history, Timeline.UNREAD) != null;
    }

    /**
     * Runs a history that must hold. Returns what happens.
     *
     * @param headline the first line of the report if it does not hold
     */
    public List<String> requireHolds(String headline, H history) {
        List<String> timeline = new ArrayList<>();
        Throwable failure = storm.run(history, line -> timeline.add(line.get()));
        if (failure != null) {
            throw new AssertionError(report(headline, history, timeline), failure);
        }
        return timeline;
    }

    private String report(String headline, H history, List<String> timeline) {
        return "%s\n%s\n%s".formatted(headline, about.apply(history), String.join("\n", timeline));
    }

    /** Runs the histories of so many seeds twice: what happens must be the same. */
    public void requireRepeatable(long histories) {
        for (long seed = 0; seed < histories; seed++) {
            String headline = "history " + seed + " fails";
            List<String> once = requireHolds(headline, draw.apply(seed));
            assertThat(requireHolds(headline, draw.apply(seed)))
                    .as("seed %s", seed)
                    .isEqualTo(once);
        }
    }
}

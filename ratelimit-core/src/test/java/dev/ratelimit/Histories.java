package dev.ratelimit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The histories of a storm, each drawn from its seed. {@code -Dstorm.from=} and {@code -Dstorm.histories=} choose the seeds;
 * one history with a failing seed runs it again.
 *
 * @param draw draws a history
 * @param storm runs it
 * @param shrink finds a shorter one that still fails
 * @param setup what it starts with, for the message
 * @param again the arguments of Maven that run one again
 */
public record Histories<H>(
        LongFunction<H> draw, Storm<H> storm, UnaryOperator<H> shrink, Function<H, ?> setup, String again) {

    /** Runs a history. */
    @FunctionalInterface
    public interface Storm<H> {

        /**
         * Runs a history.
         *
         * @param timeline gets what happens
         * @return what is wrong; {@code null} if nothing is
         */
        @Nullable
        Throwable run(H history, List<String> timeline);
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
        if (storm.run(history, new ArrayList<>()) != null) {
            H shortest = shrink.apply(history);
            List<String> timeline = new ArrayList<>();
            Throwable failure = storm.run(shortest, timeline);
            throw new AssertionError(
                    """
                    history %d fails; to run it again: mvn %s -Dstorm.histories=1 -Dstorm.from=%d
                    %s
                    %s""".formatted(seed, again, seed, setup.apply(shortest), String.join("\n", timeline)), failure);
        }
    }

    /** What happens in the history of a seed, which must hold. */
    public List<String> timeline(long seed) {
        List<String> timeline = new ArrayList<>();
        Throwable failure = storm.run(draw.apply(seed), timeline);
        if (failure != null) {
            throw new AssertionError("history " + seed + " fails", failure);
        }
        return timeline;
    }
}

package dev.ratelimit.storm;

import java.util.List;
import java.util.stream.Stream;

/**
 * What happens in one run, which may be made shorter.
 *
 * @param <S> a step
 * @param <H> the history itself
 */
public interface Shrinkable<S, H> {

    List<S> steps();

    /** The same with other steps. */
    H with(List<S> steps);

    /** The same steps in other orders, if something else decides on these: without a step, it decides otherwise. */
    default Stream<H> reordered() {
        return Stream.empty();
    }

    /** Simpler histories with as many steps, the simplest first. */
    default Stream<H> simplified() {
        return Stream.empty();
    }
}

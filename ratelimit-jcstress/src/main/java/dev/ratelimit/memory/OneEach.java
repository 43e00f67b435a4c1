package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Outcome;

/** Each thread has a permit of its own, or nothing to do with permits, and nobody gets one after them. */
@Outcome(id = "true, true, [A-Z]+", expect = ACCEPTABLE, desc = "one permit each")
final class OneEach {

    private OneEach() {}
}

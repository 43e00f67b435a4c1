package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Outcome;

/** Two threads want the only permit, one of them gets it, and nobody after them. */
@Outcome(id = "true, false, [A-Z]+", expect = ACCEPTABLE, desc = "the first got it")
@Outcome(id = "false, true, [A-Z]+", expect = ACCEPTABLE, desc = "the second got it")
final class OneGetsIt {

    private OneGetsIt() {}
}

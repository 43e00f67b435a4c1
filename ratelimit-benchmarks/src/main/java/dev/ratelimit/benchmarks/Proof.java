package dev.ratelimit.benchmarks;

/** A contender that does not decide as it should is not measured. */
final class Proof {

    private Proof() {}

    static void of(boolean decidedAsItShould, Enum<?> contender) {
        if (!decidedAsItShould) {
            throw new IllegalStateException(contender + " did not decide as it should");
        }
    }
}

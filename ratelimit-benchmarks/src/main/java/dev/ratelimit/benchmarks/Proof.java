package dev.ratelimit.benchmarks;

/** Rejects contenders that do not decide correctly. */
final class Proof {

    private Proof() {}

    static void of(boolean decidedAsItShould, Enum<?> contender) {
        if (!decidedAsItShould) {
            throw new IllegalStateException(contender + " did not decide as it should");
        }
    }
}

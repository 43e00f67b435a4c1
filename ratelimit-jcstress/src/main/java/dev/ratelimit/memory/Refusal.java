package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** What a refusal implies: that the permit was taken, and every other permit of the same charge. */
final class Refusal {

    private Refusal() {}

    /** B2 A refusal is final: after one refusal, the next call is refused as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, [A-Z]+", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false, [A-Z]+", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class SeeCharge extends Budgets {

        /** The key has its permit. */
        public SeeCharge() {
            super(10, Kind.WORD, Kind.LONGS);
            prepare("k");
        }

        @Actor
        public void first(LLLL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(LLLL_Result result) {
            result.r2 = take("k");
            result.r3 = take("k");
        }

        @Arbiter
        public void after(LLLL_Result result) {
            result.r4 = left(take("k"));
        }
    }

    /** B2 After a refusal by one key of a charge to two keys, the other key is charged as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, [A-Z]+", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, [A-Z]+", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBoth extends Budgets {

        /** Both keys have their permits. */
        public SeeBoth() {
            super(10, Kind.WORD, Kind.LONGS);
            prepare("a");
            prepare("b");
        }

        @Actor
        public void first(LLLL_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(LLLL_Result result) {
            result.r2 = take("a");
            result.r3 = take("b");
        }

        @Arbiter
        public void after(LLLL_Result result) {
            result.r4 = left(take("a") || take("b"));
        }
    }

    /** B2 The same with new keys, in the other order. */
    @JCStressTest
    @Outcome(id = "true, false, false, [A-Z]+", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, [A-Z]+", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBothNew extends Budgets {

        /** There are no keys. */
        public SeeBothNew() {
            super(10, Kind.WORD, Kind.LONGS);
        }

        @Actor
        public void first(LLLL_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(LLLL_Result result) {
            result.r2 = take("b");
            result.r3 = take("a");
        }

        @Arbiter
        public void after(LLLL_Result result) {
            result.r4 = left(take("a") || take("b"));
        }
    }
}

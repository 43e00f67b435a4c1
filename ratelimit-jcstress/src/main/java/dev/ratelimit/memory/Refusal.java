package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/** What a refusal implies: that the permit was taken, and every other permit of the same charge. */
final class Refusal {

    private Refusal() {}

    /** B2 A refusal is final: after one refusal, the next call is refused as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class SeeChargeWord extends Budgets {

        /** The key has its permit. */
        public SeeChargeWord() {
            super(WORD, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("k");
            result.r3 = take("k");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("k");
        }
    }

    /** B2 After a refusal by one key of a charge to two keys, the other key is charged as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, false", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBothWord extends Budgets {

        /** Both keys have their permits. */
        public SeeBothWord() {
            super(WORD, 10);
            prepare("a");
            prepare("b");
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("a");
            result.r3 = take("b");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("a") || take("b");
        }
    }

    /** B2 The same with new keys, in the other order. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, false", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBothNewWord extends Budgets {

        /** There are no keys. */
        public SeeBothNewWord() {
            super(WORD, 10);
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("b");
            result.r3 = take("a");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("a") || take("b");
        }
    }

    /** B2 A refusal is final: after one refusal, the next call is refused as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class SeeChargeLongs extends Budgets {

        /** The key has its permit. */
        public SeeChargeLongs() {
            super(LONGS, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("k");
            result.r3 = take("k");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("k");
        }
    }

    /** B2 After a refusal by one key of a charge to two keys, the other key is charged as well. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, false", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBothLongs extends Budgets {

        /** Both keys have their permits. */
        public SeeBothLongs() {
            super(LONGS, 10);
            prepare("a");
            prepare("b");
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("a");
            result.r3 = take("b");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("a") || take("b");
        }
    }

    /** B2 The same with new keys, in the other order. */
    @JCStressTest
    @Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "both were charged first")
    @Outcome(id = "false, true, true, false", expect = ACCEPTABLE, desc = "the second took one of them first")
    @State
    public static class SeeBothNewLongs extends Budgets {

        /** There are no keys. */
        public SeeBothNewLongs() {
            super(LONGS, 10);
        }

        @Actor
        public void first(ZZZZ_Result result) {
            result.r1 = takeBoth("a", "b");
        }

        @Actor
        public void second(ZZZZ_Result result) {
            result.r2 = take("b");
            result.r3 = take("a");
        }

        @Arbiter
        public void after(ZZZZ_Result result) {
            result.r4 = take("a") || take("b");
        }
    }
}

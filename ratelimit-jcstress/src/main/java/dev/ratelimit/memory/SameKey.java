package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** Two threads want the only permit of a key: one gets it, and nobody after them. */
final class SameKey {

    private SameKey() {}

    /** B1 Both threads add the same key, whose state is one long. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class InsertWord extends Budgets {

        /** There are no keys. */
        public InsertWord() {
            super(WORD, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B1 Both threads charge an existing key, whose state is one long. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class UpdateWord extends Budgets {

        /** The key has its permit. */
        public UpdateWord() {
            super(WORD, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B1 Both threads add the same key, whose state is several longs. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class InsertLongs extends Budgets {

        /** There are no keys. */
        public InsertLongs() {
            super(LONGS, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B1 Both threads charge an existing key, whose state is several longs. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class UpdateLongs extends Budgets {

        /** The key has its permit. */
        public UpdateLongs() {
            super(LONGS, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B1 Both threads add the same key, whose state is a separate array. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class InsertGrowing extends Budgets {

        /** There are no keys. */
        public InsertGrowing() {
            super(GROWING, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B1 Both threads charge an existing key, whose state is a separate array. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class UpdateGrowing extends Budgets {

        /** The key has its permit. */
        public UpdateGrowing() {
            super(GROWING, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }
}

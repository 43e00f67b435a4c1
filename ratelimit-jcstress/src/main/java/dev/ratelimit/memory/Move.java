package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** Keys move to another table, or another limit, while they are charged. */
final class Move {

    private Move() {}

    /** B4 A new key makes the table grow while another is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit each")
    @State
    public static class GrowWord extends Budgets {

        /** One more key makes the table grow. */
        public GrowWord() {
            super(WORD, 100);
            exhaust(FIRST_TABLE - 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 Both threads add the same key, and the table grows. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class GrowInsertWord extends Budgets {

        /** One more key makes the table grow. */
        public GrowInsertWord() {
            super(WORD, 100);
            exhaust(FIRST_TABLE);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("new");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 A new key makes the table grow while another is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit each")
    @State
    public static class GrowLongs extends Budgets {

        /** One more key makes the table grow. */
        public GrowLongs() {
            super(LONGS, 100);
            exhaust(FIRST_TABLE - 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 Both threads add the same key, and the table grows. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class GrowInsertLongs extends Budgets {

        /** One more key makes the table grow. */
        public GrowInsertLongs() {
            super(LONGS, 100);
            exhaust(FIRST_TABLE);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("new");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 A new key makes the table grow while another is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit each")
    @State
    public static class GrowGrowing extends Budgets {

        /** One more key makes the table grow. */
        public GrowGrowing() {
            super(GROWING, 100);
            exhaust(FIRST_TABLE - 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 Both threads add the same key, and the table grows. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class GrowInsertGrowing extends Budgets {

        /** One more key makes the table grow. */
        public GrowInsertGrowing() {
            super(GROWING, 100);
            exhaust(FIRST_TABLE);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("new");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** A14 A key is charged under two limits of one permit each, one long and several. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class ChangeLimit extends Budgets {

        /** The key has its permit, and the table room for both limits. */
        public ChangeLimit() {
            super(WORD, 10);
            prepare("k");
            keys.segment(KeyHash.of("k")).prepare(LONGS);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k", LONGS);
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("k", LONGS);
        }
    }

    /** A14 The same in a table without room for the other limit, which is replaced. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class ChangeTable extends Budgets {

        /** The key has its permit. */
        public ChangeTable() {
            super(WORD, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("k", LONGS);
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("k", LONGS);
        }
    }
}

package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** A key is charged in its remembered slot, while others charge it, move it or remove it. */
final class Remembered {

    private Remembered() {}

    /** B1 One thread finds the key in the remembered slot, the other by its hash; one long. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class ChargeWord extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public ChargeWord() {
            super(WORD, 10);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
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

    /** B4 A new key makes the table grow; one long. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit each")
    @State
    public static class GrowWord extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public GrowWord() {
            super(WORD, 100);
            exhaust(FIRST_TABLE - 1);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 The key is full and swept; one long. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepWord extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public SweepWord() {
            super(WORD, 10);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || keys.size() != 1;
        }
    }

    /** B4 The slot is given to another key; one long. */
    @JCStressTest
    @Outcome(
            id = "true, true, false",
            expect = ACCEPTABLE,
            desc = "each has one permit, one of them of the shared budget")
    @State
    public static class EvictWord extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public EvictWord() {
            super(WORD, 1);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || take("other") || keys.size() != 1;
        }
    }

    /** B1 One thread finds the key in the remembered slot, the other by its hash; several longs. */
    @JCStressTest
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "the second got it")
    @State
    public static class ChargeLongs extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public ChargeLongs() {
            super(LONGS, 10);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
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

    /** B4 A new key makes the table grow; several longs. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit each")
    @State
    public static class GrowLongs extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public GrowLongs() {
            super(LONGS, 100);
            exhaust(FIRST_TABLE - 1);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || take("new") || keys.size() != FIRST_TABLE + 1;
        }
    }

    /** B4 The key is full and swept; several longs. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepLongs extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public SweepLongs() {
            super(LONGS, 10);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || keys.size() != 1;
        }
    }

    /** B4 The slot is given to another key; several longs. */
    @JCStressTest
    @Outcome(
            id = "true, true, false",
            expect = ACCEPTABLE,
            desc = "each has one permit, one of them of the shared budget")
    @State
    public static class EvictLongs extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public EvictLongs() {
            super(LONGS, 1);
            remember("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = takeHot("k") || take("other") || keys.size() != 1;
        }
    }
}

package dev.ratelimit.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** A full key is removed while it is charged: it never has two budgets. */
final class Removal {

    private Removal() {}

    /** B4 A full key is swept while it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepWord extends Budgets {

        /** The key has its permit. */
        public SweepWord() {
            super(WORD, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A new key is swept before it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepNewWord extends Budgets {

        /** There are no keys. */
        public SweepNewWord() {
            super(WORD, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A full key is evicted by another while it is charged. */
    @JCStressTest
    @Outcome(
            id = "true, true, false",
            expect = ACCEPTABLE,
            desc = "each has one permit, one of them of the shared budget")
    @State
    public static class EvictWord extends Budgets {

        /** The key has its permit, and there is one slot. */
        public EvictWord() {
            super(WORD, 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("other") || keys.size() != 1;
        }
    }

    /** B4 A full key is swept while it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepLongs extends Budgets {

        /** The key has its permit. */
        public SweepLongs() {
            super(LONGS, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A new key is swept before it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepNewLongs extends Budgets {

        /** There are no keys. */
        public SweepNewLongs() {
            super(LONGS, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A full key is evicted by another while it is charged. */
    @JCStressTest
    @Outcome(
            id = "true, true, false",
            expect = ACCEPTABLE,
            desc = "each has one permit, one of them of the shared budget")
    @State
    public static class EvictLongs extends Budgets {

        /** The key has its permit, and there is one slot. */
        public EvictLongs() {
            super(LONGS, 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("other") || keys.size() != 1;
        }
    }

    /** B4 A full key is swept while it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepGrowing extends Budgets {

        /** The key has its permit. */
        public SweepGrowing() {
            super(GROWING, 10);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A new key is swept before it is charged. */
    @JCStressTest
    @Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "one permit, and the key is there")
    @State
    public static class SweepNewGrowing extends Budgets {

        /** There are no keys. */
        public SweepNewGrowing() {
            super(GROWING, 10);
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || keys.size() != 1;
        }
    }

    /** B4 A full key is evicted by another while it is charged. */
    @JCStressTest
    @Outcome(
            id = "true, true, false",
            expect = ACCEPTABLE,
            desc = "each has one permit, one of them of the shared budget")
    @State
    public static class EvictGrowing extends Budgets {

        /** The key has its permit, and there is one slot. */
        public EvictGrowing() {
            super(GROWING, 1);
            prepare("k");
        }

        @Actor
        public void first(ZZZ_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZZ_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZZ_Result result) {
            result.r3 = take("k") || take("other") || keys.size() != 1;
        }
    }
}

package dev.ratelimit.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A key is charged in its remembered slot, while others charge it, move it or remove it. */
final class Remembered {

    private Remembered() {}

    /** B1 One thread finds the key in the remembered slot, the other by its hash. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class Charge extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public Charge() {
            super(10, Kind.WORD, Kind.LONGS);
            remember("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("k");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || keys.size() != 1);
        }
    }

    /** B4 A new key makes the table grow. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Grow extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public Grow() {
            super(100, Kind.WORD, Kind.LONGS);
            exhaust(FIRST_TABLE - 1);
            remember("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(takeHot("k") || take("new") || keys.size() != FIRST_TABLE + 1);
        }
    }

    /** B4 The key is full and swept. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Sweep extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public Sweep() {
            super(10, Kind.WORD, Kind.LONGS);
            remember("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(takeHot("k") || keys.size() != 1);
        }
    }

    /** B4 The slot is given to another key: one of the permits is of the shared budget. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Evict extends Budgets {

        /** The key has its permit, and its slot is remembered. */
        public Evict() {
            super(1, Kind.WORD, Kind.LONGS);
            remember("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = takeHot("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(takeHot("k") || take("other") || keys.size() != 1);
        }
    }
}

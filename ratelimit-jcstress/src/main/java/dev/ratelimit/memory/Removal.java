package dev.ratelimit.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A full key is removed while it is charged: it never has two budgets. */
final class Removal {

    private Removal() {}

    /** B4 A full key is swept while it is charged. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Sweep extends Budgets {

        /** The key has its permit. */
        public Sweep() {
            super(10);
            prepare("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || keys.size() != 1);
        }
    }

    /** B4 A new key is swept before it is charged. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class SweepNew extends Budgets {

        /** There are no keys. */
        public SweepNew() {
            super(10);
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            keys.sweep();
            result.r2 = true;
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || keys.size() != 1);
        }
    }

    /** B4 A full key is evicted by another while it is charged: one of the permits is of the shared budget. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Evict extends Budgets {

        /** The key has its permit, and there is one slot. */
        public Evict() {
            super(1);
            prepare("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("other");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || take("other") || keys.size() != 1);
        }
    }
}

package dev.ratelimit.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** Two threads want the only permit of a key: one gets it, and nobody after them. */
final class SameKey {

    private SameKey() {}

    /** B1 Both threads add the same key. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class Insert extends Budgets {

        /** There are no keys. */
        public Insert() {
            super(10);
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
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

    /** B1 Both threads charge an existing key. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class Update extends Budgets {

        /** The key has its permit. */
        public Update() {
            super(10);
            prepare("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
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
}

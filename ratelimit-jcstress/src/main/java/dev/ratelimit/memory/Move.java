package dev.ratelimit.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** Keys move to another table, or another limit, while they are charged. */
final class Move {

    private Move() {}

    /** B4 A new key makes the table grow while another is charged. */
    @JCStressTest
    @JCStressMeta(OneEach.class)
    @State
    public static class Grow extends Budgets {

        /** One more key makes the table grow. */
        public Grow() {
            super(100);
            exhaust(FIRST_TABLE - 1);
            prepare("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || take("new") || keys.size() != FIRST_TABLE + 1);
        }
    }

    /** B4 Both threads add the same key, and the table grows. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class GrowInsert extends Budgets {

        /** One more key makes the table grow. */
        public GrowInsert() {
            super(100);
            exhaust(FIRST_TABLE);
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("new");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("new");
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("new") || keys.size() != FIRST_TABLE + 1);
        }
    }

    /** A14 A key is charged under two limits of one permit each, one long and several. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class ChangeLimit extends Budgets {

        /** The key has its permit, and the table room for both limits. */
        public ChangeLimit() {
            super(10, Kind.WORD);
            prepare("k");
            keys.segment(KeyHash.of("k")).prepare(Kind.LONGS.limit);
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("k", Kind.LONGS);
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || take("k", Kind.LONGS));
        }
    }

    /** A14 The same in a table without room for the other limit, which is replaced. */
    @JCStressTest
    @JCStressMeta(OneGetsIt.class)
    @State
    public static class ChangeTable extends Budgets {

        /** The key has its permit. */
        public ChangeTable() {
            super(10, Kind.WORD);
            prepare("k");
        }

        @Actor
        public void first(ZZL_Result result) {
            result.r1 = take("k");
        }

        @Actor
        public void second(ZZL_Result result) {
            result.r2 = take("k", Kind.LONGS);
        }

        @Arbiter
        public void after(ZZL_Result result) {
            result.r3 = left(take("k") || take("k", Kind.LONGS));
        }
    }
}

package dev.ratelimit.memory.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.memory.storm.StormClock.Reading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a thread called, and what came of it. */
final class Call {

    final Step step;

    /** What is charged, asked or refunded, under the limits themselves. */
    final List<Charge> charges;

    /** The call that is refunded. */
    final @Nullable Call refunded;

    /** The number of calls that had ended when this one began, in the order of their ends. */
    int began;

    /** The number of calls that had ended before this one ended. */
    int ended;

    List<Reading> readings = List.of();

    @Nullable
    Decision decision;

    /** Whether it was admitted. */
    boolean admitted;

    /** The error that was thrown. */
    @Nullable
    Fuse thrown;

    Call(Step step, List<Charge> charges, @Nullable Call refunded) {
        this.step = step;
        this.charges = charges;
        this.refunded = refunded;
    }

    /** The charges, each budget once. */
    List<Charge> budgets() {
        return Charge.addUp(charges);
    }

    /** The charge of each limit. */
    List<Charge> chargesByLimit() {
        List<Charge> all = new ArrayList<>();
        for (Charge charge : budgets()) {
            charge.policy().limits().forEach(limit -> all.add(charge));
        }
        return all;
    }

    /** Whether it may have had its effect although it threw: if the error came after everything was written. */
    boolean mayHaveEffect() {
        Step.Fault fault = step.fault();
        return thrown == null || (fault != null && fault.place() != Step.Place.FOREIGN);
    }

    String outcome() {
        if (thrown != null) {
            return thrown.thrown() + " at " + thrown.where();
        }
        return switch (step.kind()) {
            case DECIDE, PEEK -> decision + "";
            case TRY, TRY_ONE -> admitted ? "admitted" : "refused";
            default -> "done";
        };
    }
}

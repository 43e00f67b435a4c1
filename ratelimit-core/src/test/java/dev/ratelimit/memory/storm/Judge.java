package dev.ratelimit.memory.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.memory.storm.Model.Moment;
import dev.ratelimit.memory.storm.StormClock.Reading;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for an order in which the calls of a history, one after another, have the results that they had (linearizability,
 * Herlihy and Wing 1990). A call that ended before another one began comes before it, and each happens at one moment at
 * which it read the clocks. A call that threw has no effect.
 */
final class Judge {

    private record Known(BitSet done, Model model) {}

    private final List<Call> calls;
    private final Set<Known> seen = new HashSet<>();

    /** The calls that were applied when the search came farthest. */
    private BitSet farthest = new BitSet();

    private Model stuck = new Model();

    /**
     * Creates a judge of these calls.
     *
     * @param calls in the order in which they ended
     */
    Judge(List<Call> calls) {
        this.calls = calls;
    }

    /** What is wrong; {@code null} if there is such an order. */
    @Nullable
    String verdict() {
        if (search(new BitSet(), new Model())) {
            return null;
        }
        StringBuilder open = new StringBuilder();
        for (Call call : calls) {
            if (!farthest.get(call.ended) && call.charges.size() > 0) {
                open.append("\n  call %d, for example, would be at %s: %s"
                        .formatted(
                                call.step.id(),
                                call.readings,
                                stuck.expected(call, moments(call).iterator().next())));
                break;
            }
        }
        return "the results fit to no order of the calls; after %s, none comes next%s\n  the budgets are %s"
                .formatted(
                        calls.stream()
                                .filter(call -> farthest.get(call.ended))
                                .map(call -> call.step.id())
                                .toList(),
                        open,
                        stuck);
    }

    private boolean search(BitSet done, Model model) {
        if (done.cardinality() == calls.size()) {
            return true;
        }
        if (!seen.add(new Known(done, model))) {
            return false;
        }
        if (done.cardinality() > farthest.cardinality()) {
            farthest = done;
            stuck = model;
        }
        int firstOpen = done.nextClearBit(0);
        for (int i = firstOpen; i < calls.size(); i++) {
            // a call that began after another open one has ended comes later
            if (!done.get(i) && calls.get(i).began <= firstOpen && comesNext(calls.get(i), done, model)) {
                return true;
            }
        }
        return false;
    }

    private boolean comesNext(Call call, BitSet done, Model model) {
        BitSet then = (BitSet) done.clone();
        then.set(call.ended);
        if (call.thrown != null && search(then, model)) {
            return true;
        }
        if (call.thrown == null || call.mayHaveEffect()) {
            for (Moment moment : moments(call)) {
                Model next = model.after(call, moment);
                if (next != null && search(then, next)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * The moments at which the call may have happened, the likeliest first. It is at one of the last readings: earlier
     * ones are for keys that are added or evicted, and for attempts that failed. Wall time is read after it, and each
     * limit that refuses may read its clock again.
     */
    private static Set<Moment> moments(Call call) {
        Set<Moment> moments = new LinkedHashSet<>();
        List<Reading> readings = call.readings;
        int last = readings.size() - 1;
        int after = 1;
        for (Charge charge : call.charges) {
            after += charge.policy().limits().size();
        }
        for (int i = last; i >= Math.max(0, last - after); i--) {
            for (int j = i; j <= last; j++) {
                if (j == i || readings.get(j).ofWall()) {
                    moments.add(
                            new Moment(readings.get(i).nanos(), readings.get(j).epochNanos()));
                }
            }
        }
        if (moments.isEmpty()) {
            moments.add(new Moment(0, 0));
        }
        return moments;
    }
}

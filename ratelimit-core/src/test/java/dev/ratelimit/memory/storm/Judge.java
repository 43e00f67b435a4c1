package dev.ratelimit.memory.storm;

import dev.ratelimit.memory.storm.History.Setup;
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

    /** After so many attempts to find an order, there is no verdict; that happens to few histories in ten thousand. */
    private static final int MAX_SEEN = 20_000;

    private record Known(BitSet done, Model model) {}

    private final Setup setup;
    private final List<Call> calls;
    private final List<Long> evicted;
    private final Set<Known> seen = new HashSet<>();

    /** The calls that were applied when the search came farthest. */
    private BitSet farthest = new BitSet();

    private Model stuck;

    /**
     * Creates a judge of these calls.
     *
     * @param calls in the order in which they ended
     * @param evicted how many keys of each policy the store evicted although they were not full
     */
    Judge(Setup setup, List<Call> calls, List<Long> evicted) {
        this.setup = setup;
        this.calls = calls;
        this.evicted = evicted;
        this.stuck = new Model(calls.stream().anyMatch(call -> call.step.kind() == Step.Kind.SET_BACK));
    }

    /** What is wrong; {@code null} if there is such an order. */
    @Nullable
    String verdict() {
        if (search(new BitSet(), stuck)) {
            return null;
        }
        StringBuilder open = new StringBuilder();
        for (Call call : calls) {
            boolean decided = call.decision != null || call.step.kind().charges();
            if (!farthest.get(call.ended) && decided) {
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
            return mayHaveEvicted(model, false);
        }
        if (seen.size() > MAX_SEEN || !seen.add(new Known(done, model))) {
            return seen.size() > MAX_SEEN;
        }
        if (done.cardinality() > farthest.cardinality()) {
            farthest = done;
            stuck = model;
        }
        int firstOpen = done.nextClearBit(0);
        // a call that began after another open one has ended comes later
        List<Call> open = calls.stream()
                .filter(call -> !done.get(call.ended) && call.began <= firstOpen)
                .toList();
        for (Call call : open) {
            if (comesNext(call, done, model)) {
                return true;
            }
        }
        for (Model next : new Unseen(setup, calls, open, model).all()) {
            if (mayHaveEvicted(next, true) && search(done, next)) {
                return true;
            }
        }
        return false;
    }

    /** Whether there are as many evictions as the store has counted; an error may have kept it from counting one. */
    private boolean mayHaveEvicted(Model model, boolean moreToCome) {
        long errors = calls.stream().filter(call -> call.thrown != null).count();
        for (int policy = 0; policy < evicted.size(); policy++) {
            long missing = evicted.get(policy) - model.evicted("p" + policy);
            if (-missing > errors || (missing > 0 && !moreToCome)) {
                return false;
            }
        }
        return true;
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
                Model other = model.afterFirstRefusal(call, moment);
                if ((next != null && search(then, next)) || (other != null && search(then, other))) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * The moments at which the call may have happened, the likeliest first: earlier readings are for keys that are added
     * or evicted, and for attempts that failed. Only a refusal may be followed by others, because each limit that refuses
     * may read its clock again.
     */
    private static Set<Moment> moments(Call call) {
        Set<Moment> moments = new LinkedHashSet<>();
        moments.add(lastMoment(call.readings));
        boolean refused =
                call.thrown == null && !call.admitted && call.step.kind().charges();
        int last = call.readings.size() - 1;
        int limits = call.charges.stream()
                .mapToInt(charge -> charge.policy().limits().size())
                .sum();
        for (int i = last; refused && i >= Math.max(0, last - limits - 1); i--) {
            for (int j = i; j <= last; j++) {
                if (j == i || call.readings.get(j).ofWall()) {
                    moments.add(new Moment(
                            call.readings.get(i).nanos(), call.readings.get(j).epochNanos()));
                }
            }
        }
        return moments;
    }

    /** The last reading of monotonic time, and that of wall time. */
    private static Moment lastMoment(List<Reading> readings) {
        Moment last = new Moment(0, 0);
        boolean nanosRead = false;
        boolean wallRead = false;
        for (Reading reading : readings) {
            last = new Moment(
                    nanosRead && reading.ofWall() ? last.nanos() : reading.nanos(),
                    wallRead && !reading.ofWall() ? last.epochNanos() : reading.epochNanos());
            nanosRead |= !reading.ofWall();
            wallRead |= reading.ofWall();
        }
        return last;
    }
}

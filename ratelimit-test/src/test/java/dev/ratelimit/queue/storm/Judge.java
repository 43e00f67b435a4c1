package dev.ratelimit.queue.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** Says when a promise to a caller is broken. */
final class Judge {

    private final Model model;
    private final RateLimitStore store;
    private final RateLimitQueue queue;
    private final World world;

    private final Set<Decision> charged = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Decision> givenBack = Collections.newSetFromMap(new IdentityHashMap<>());

    /** How many may have failed because foreign code did. */
    private int faults;

    private boolean judging;

    Judge(Model model, RateLimitStore store, RateLimitQueue queue, World world) {
        this.model = model;
        this.store = store;
        this.queue = queue;
        this.world = world;
    }

    void charges(Decision decision) {
        if (decision.admitted()) {
            charged.add(decision);
        }
    }

    void givesBack(Decision decision) {
        check(givenBack.add(decision), "given back twice: %s", decision);
    }

    void fails() {
        faults++;
    }

    boolean anybodyWaits() {
        return !model.waiting().isEmpty();
    }

    /** Everything that was due is done, and no thread is in the queue. */
    void rest() {
        judging = true;
        checkAll();
        judging = false;
    }

    /** Whether nobody else may do anything. */
    boolean isJudging() {
        return judging;
    }

    private void checkAll() {
        for (Caller caller : model.callers) {
            if (caller.isAnswered() && !caller.judged) {
                caller.judged = true;
                judge(caller);
            }
        }
        int inRooms = 0;
        for (Map.Entry<String, Waiting> room : model.rooms.entrySet()) {
            int size = queue.waiting(room.getKey());
            check(size <= room.getValue().maxWaiting(), "%s wait for %s", size, room);
            inRooms += size;
        }
        check(inRooms == model.waiting().size(), "%s wait, but in the rooms are %s", model.waiting(), inRooms);
        check(inRooms == 0 || !model.isClosed(), "%s wait for a closed queue", model.waiting());
        check(inRooms > 0 || world.alarms() == 0, "nobody waits, but there are %s alarms", world.alarms());
        for (Caller caller : model.waiting()) {
            if (!caller.waits()) {
                // it was answered just now, at its time
                continue;
            }
            check(caller.mustGo == null, "%s waits, although %s", caller, String.valueOf(caller.mustGo));
            checkDeadline(caller);
            checkServed(caller);
            checkOrder(caller);
        }
    }

    private void checkDeadline(Caller caller) {
        if (isOver(caller)) {
            world.advance(Model.SLACK);
            check(!isOver(caller), "%s waits longer than it may, until %s", caller, caller.deadline);
        }
    }

    private boolean isOver(Caller caller) {
        return caller.waits() && !caller.vague && world.now() - caller.deadline > Model.TOLERANCE + Model.SLACK;
    }

    /** Whoever is first at all its budgets and could have its permits does not wait for them. */
    private void checkServed(Caller caller) {
        if (couldBeServed(caller)) {
            world.advance(Model.SLACK);
            check(!couldBeServed(caller), "%s waits, although there are permits for it", caller);
        }
    }

    private boolean couldBeServed(Caller caller) {
        return caller.waits()
                && model.waiting().stream().noneMatch(other -> other != caller && mayBeAhead(other, caller))
                && store.peek(caller.charges).admitted();
    }

    private boolean mayBeAhead(Caller other, Caller caller) {
        for (Charge charge : caller.charges) {
            Waiting room = model.rooms.get(Model.name(charge));
            if (room != null && other.charges.stream().anyMatch(charge::sameBudget)) {
                boolean newest = room.order() == Order.NEWEST_FIRST;
                if (newest ? other.joined > caller.came : other.came < caller.joined) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Nobody who came later and wants the same has got it. */
    private void checkOrder(Caller caller) {
        Charge budget = caller.charges.get(0);
        if (!caller.waits() || !caller.isPlain() || model.isNewestFirst(budget)) {
            return;
        }
        for (Caller other : model.callers) {
            boolean overtook = other.isPlain()
                    && other.charges.get(0).sameBudget(budget)
                    && other.came > caller.joined
                    && isAdmitted(other);
            check(!overtook, "%s has overtaken %s", other, caller);
        }
    }

    private static boolean isAdmitted(Caller caller) {
        return caller.isAnswered()
                && !caller.result().isCompletedExceptionally()
                && caller.result().join().admitted();
    }

    /** At the end: what was charged is what callers were told. */
    void end() {
        Set<Decision> told = Collections.newSetFromMap(new IdentityHashMap<>());
        model.callers.stream()
                .filter(Judge::isAdmitted)
                .forEach(caller -> told.add(caller.result().join()));
        for (Decision decision : charged) {
            check(told.contains(decision) || givenBack.contains(decision), "lost: %s", decision);
            check(!told.contains(decision) || !givenBack.contains(decision), "told, given back: %s", decision);
        }
        check(charged.containsAll(told), "told, but not charged");
    }

    /** Whether an answer is right. */
    private void judge(Caller caller) {
        if (caller.result().isCompletedExceptionally()) {
            check(faults > 0, "%s failed for nothing: %s", caller, caller.result());
            faults--;
            return;
        }
        Decision told = caller.result().join();
        if (told.admitted()) {
            check(charged.contains(told), "%s was admitted without a charge", caller);
            return;
        }
        boolean late = caller.answeredUntil >= caller.deadline - Model.SLACK;
        check(
                model.isClosed() || caller.mayGo || caller.mustGo != null || caller.hopeless || caller.vague || late,
                "%s was refused for nothing: %s",
                caller,
                told);
        Heard heard = caller.heard;
        Heard before = caller.disturbed ? caller.before : null;
        boolean right = (heard != null && heard.isWhatIsTold(told, caller))
                || (before != null && before.isWhatIsTold(told, caller));
        check(right, "%s heard %s but is told %s", caller, String.valueOf(heard), told);
    }

    @SuppressWarnings("AnnotateFormatMethod") // its annotation is no dependency
    private static void check(boolean holds, String otherwise, Object... details) {
        if (!holds) {
            throw new AssertionError(otherwise.formatted(details));
        }
    }
}

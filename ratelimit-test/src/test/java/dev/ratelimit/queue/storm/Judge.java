package dev.ratelimit.queue.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.queue.storm.Caller.Heard;
import dev.ratelimit.queue.storm.History.Setup;
import dev.ratelimit.queue.storm.History.Waited;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Follows what callers can see, and says when a promise to one of them is broken. */
final class Judge {

    /** The queue's, for alarms that are late. */
    private static final long TOLERANCE = 10_000_000;

    /** More than the clock moves while it is read in one history. */
    private static final long SLACK = 1_000_000;

    private final Map<String, Waiting> rooms = new HashMap<>();
    private final RateLimitStore store;
    private final RateLimitQueue queue;
    private final World world;

    private final List<Caller> callers = new ArrayList<>();
    private final Set<Decision> charged = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Decision> givenBack = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Whom the running thread brings to the queue; {@code null} if it does something else. */
    private @Nullable Caller newcomer;

    /** Whose answer the running thread has, without its time. */
    private @Nullable Caller listens;

    /** For whom the running thread asks the store. */
    private @Nullable Caller asked;

    /** Whether the newcomer's place can be foretold: nobody else does anything, and it is known who waits where. */
    private boolean foreseeable;

    private long events;
    private boolean closed;
    private int faults;

    Judge(Setup setup, RateLimitStore store, RateLimitQueue queue, World world) {
        for (Waited waited : setup.policies()) {
            if (waited.waiting() != null) {
                rooms.put(waited.policy().name(), waited.waiting());
            }
        }
        this.store = store;
        this.queue = queue;
        this.world = world;
    }

    // what happens

    /** Another thread does something, while the running one waits for it. */
    void meanwhile(Runnable action) {
        Caller newcomerBefore = newcomer;
        Caller listensBefore = listens;
        Caller askedBefore = asked;
        foreseeable = false;
        newcomer = null;
        listens = null;
        asked = null;
        action.run();
        newcomer = newcomerBefore;
        listens = listensBefore;
        asked = askedBefore;
        foreseeable = false;
        if (asked != null) {
            asked.disturbed = true;
        }
    }

    void fails() {
        faults++;
        foreseeable = false;
        callers.forEach(caller -> caller.vague |= caller.waits());
    }

    void closes() {
        closed = true;
    }

    Caller comes(int id, List<Charge> charges) {
        Caller caller = new Caller(id, charges, events++);
        caller.answeredFrom = world.now();
        callers.add(caller);
        newcomer = caller;
        foreseeable = isKnown();
        return caller;
    }

    private boolean isKnown() {
        for (String policy : rooms.keySet()) {
            if (line(caller -> caller.at != null && policy.equals(name(caller.at)))
                            .size()
                    != queue.waiting(policy)) {
                return false;
            }
        }
        return waiting().stream().noneMatch(caller -> caller.vague || caller.at == null);
    }

    void asks(Caller caller) {
        asked = caller;
        caller.disturbed = false;
    }

    void hears(Caller caller, Decision decision) {
        caller.before = caller.heard;
        caller.heard = new Heard(decision, world.now());
        if (decision.admitted()) {
            charged.add(decision);
        }
        listens = caller;
        seesWhoIsHopeless();
    }

    /** The queue looks at budgets: first at all those of a newcomer who finds others at one of them. */
    void looks(List<Charge> charges, Decision decision) {
        Caller caller = newcomer;
        if (caller != null && caller.heard == null) {
            caller.heard = new Heard(decision, world.now());
            listens = caller;
            asked = caller;
            if (!charges.equals(caller.charges)) {
                throw new AssertionError(caller + " wants " + caller.charges + " but not " + charges);
            }
        }
        seesWhoIsHopeless();
    }

    /** The queue reads the clock: if it has just heard an answer, that is when it came. */
    void reads(long now) {
        Caller caller = listens;
        if (caller != null && caller.heard != null) {
            Decision decision = caller.heard.decision();
            caller.heard = new Heard(decision, now);
            learns(caller, decision, now);
            listens = null;
        }
    }

    void improves() {
        seesWhoIsHopeless();
    }

    void givesBack(Decision decision) {
        if (!givenBack.add(decision)) {
            throw new AssertionError("given back twice: " + decision);
        }
        seesWhoIsHopeless();
    }

    void answered(Caller caller) {
        caller.answeredUntil = world.now();
        if (caller.joined < events) {
            caller.answeredFrom = world.now() - SLACK;
        }
    }

    // what follows from it

    /** The answer says where a caller waits from now on, and until when. */
    private void learns(Caller caller, Decision decision, long now) {
        boolean first = caller.at == null;
        if (decision.admitted()) {
            if (first) {
                caller.at = contested(caller);
                caller.vague |= caller.at == null;
                caller.deadline = now + maxWait(caller.at);
            }
            return;
        }
        Charge at = longestWait(decision);
        if (at == null) {
            caller.mustGo = "a policy that refuses it lets nobody wait so long";
        } else if (first) {
            caller.at = at;
            caller.deadline = now + maxWait(at);
        } else if (caller.at != null && !at.sameBudget(caller.at)) {
            moves(caller, at, now);
        } else {
            caller.at = at;
        }
    }

    private void moves(Caller caller, Charge to, long now) {
        caller.at = to;
        caller.deadline = Math.min(caller.deadline, now + maxWait(to));
        if (line(other -> other.at != null && name(other.at).equals(name(to))).size()
                > room(to).maxWaiting()) {
            waiting().stream()
                    .filter(other -> other.at != null && name(other.at).equals(name(to)))
                    .forEach(other -> other.mayGo = true);
        }
        seesWhoIsHopeless();
    }

    /** As documented: the policy that makes it wait longest, if all that refuse let it wait as long as they take. */
    private @Nullable Charge longestWait(Decision refusal) {
        LimitStatus longest = null;
        for (LimitStatus status : refusal.violated()) {
            Waiting waiting = rooms.get(status.policy().name());
            long wait = status.retryAfterNanos();
            if (waiting == null
                    || wait == LimitAlgorithm.NEVER
                    || (!status.limit().concurrency() && wait > waiting.maxWait().toNanos())) {
                return null;
            }
            longest = longest == null || wait > longest.retryAfterNanos() ? status : longest;
        }
        return longest == null ? null : longest.charge();
    }

    private @Nullable Charge contested(Caller caller) {
        for (Charge charge : caller.charges) {
            if (rooms.containsKey(name(charge)) && !lineOf(charge, caller).isEmpty()) {
                return charge;
            }
        }
        return null;
    }

    /** The others who wait for a budget. */
    private List<Caller> lineOf(Charge budget, Caller except) {
        return line(other -> other != except && other.waitsFor(budget));
    }

    private List<Caller> line(Predicate<Caller> of) {
        return waiting().stream().filter(of).toList();
    }

    /** Those whose permits certainly come after their deadlines, as far as the store knows now. */
    private void seesWhoIsHopeless() {
        for (Caller caller : callers) {
            if (caller.at != null && (caller.waits() || caller == newcomer)) {
                long wait = certainWait(caller.at, caller.at.permits());
                caller.hopeless |= wait > caller.deadline - world.now() + TOLERANCE - SLACK;
            }
        }
    }

    /** How long a caller without others waits for permits at least; permits that are held may come back at once. */
    private long certainWait(Charge budget, long permits) {
        return look(budget.policy().charge(budget.key(), permits)).limits().stream()
                .filter(status -> !status.limit().concurrency())
                .mapToLong(LimitStatus::retryAfterNanos)
                .max()
                .orElse(0);
    }

    private Decision look(Charge... charges) {
        return store.peek(List.of(charges));
    }

    /** The newcomer has an answer or waits. */
    void joined(Caller caller) {
        caller.joined = events++;
        caller.answeredUntil = world.now();
        newcomer = null;
        listens = null;
        asked = null;
        Decision decision = caller.heard == null ? null : caller.heard.decision();
        if (decision == null || (decision.admitted() && caller.at == null)) {
            return;
        }
        if (caller.at == null) {
            // refused as the store has refused it
            Charge at = longestWait(decision);
            caller.mustGo = at == null ? "a policy that refuses it lets nobody wait so long" : null;
        } else if (!foreseeable || caller.vague || closed) {
            callers.stream()
                    .filter(other -> other == caller || (other.waits() && sameRoom(other, caller)))
                    .forEach(other -> other.mayGo = true);
        } else if (caller.mustGo == null) {
            foresee(caller, caller.at);
        }
    }

    private boolean sameRoom(Caller one, Caller other) {
        return one.at == null || other.at == null || name(one.at).equals(name(other.at));
    }

    /** Nobody else has done anything: whether it waits, and who goes for it, is certain. */
    private void foresee(Caller caller, Charge at) {
        if (endsForThoseAhead(caller, at)) {
            return;
        }
        List<Caller> others = line(other -> other != caller && other.at != null && name(other.at).equals(name(at)));
        boolean full = others.size() >= room(at).maxWaiting();
        if (!full) {
            return;
        }
        Map<String, List<Caller>> lines = new HashMap<>();
        for (Caller other : others) {
            lines.computeIfAbsent(keyOf(other), key -> new ArrayList<>()).add(other);
        }
        int own = 1 + lines.getOrDefault(at.key(), List.of()).size();
        boolean stays = own == 1 && isNewestFirst(at);
        int longest = lines.values().stream().mapToInt(List::size).max().orElse(0);
        if (longest > own || (stays && longest > 0)) {
            List<Caller> tails = lines.values().stream()
                    .filter(line -> line.size() == longest)
                    .map(this::tail)
                    .toList();
            tails.forEach(tail -> tail.mayGo = true);
            if (tails.size() == 1) {
                tails.get(0).mustGo = caller + " has taken its place";
            } else if (tails.stream().allMatch(Caller::waits) && queue.waiting(name(at)) > room(at).maxWaiting()) {
                throw new AssertionError("too many wait for " + name(at));
            }
        } else {
            List<Caller> line = new ArrayList<>(lines.getOrDefault(at.key(), List.of()));
            line.add(caller);
            Caller tail = tail(line);
            tail.mayGo = true;
            tail.mustGo = "there is no room for " + caller;
        }
    }

    private static String keyOf(Caller caller) {
        return caller.at == null ? "" : caller.at.key();
    }

    /** Whoever of a line is served last. */
    private Caller tail(List<Caller> line) {
        Caller first = line.get(0);
        boolean newest = first.at != null && isNewestFirst(first.at);
        return newest ? first : line.get(line.size() - 1);
    }

    /** Whether it does not wait, as those ahead need the permits for too long. */
    private boolean endsForThoseAhead(Caller caller, Charge at) {
        long ahead = isNewestFirst(at)
                ? 0
                : lineOf(at, caller).stream()
                        .mapToLong(other -> other.at == null ? 0 : other.at.permits())
                        .sum();
        long all = ahead + at.permits();
        long capacity =
                at.policy().limits().stream().mapToLong(Limit::capacity).min().orElseThrow();
        long asked = Math.min(all, capacity);
        long least = ahead == 0 ? 0 : certainWait(at, asked);
        long period = at.policy().limits().stream()
                .filter(limit -> !limit.concurrency())
                .mapToLong(Limit::replenishNanos)
                .max()
                .orElse(0);
        long most = ahead == 0 ? 0 : least + (all - asked + capacity - 1) / capacity * period;
        long maxWait = maxWait(at);
        boolean refused = !caller.waits();
        if (!refused && least > maxWait + SLACK) {
            throw new AssertionError(caller + " waits, although those ahead need the permits until it is too late");
        }
        if (refused && most >= maxWait - SLACK) {
            caller.mayGo = true;
            return true;
        }
        return false;
    }

    private Waiting room(Charge charge) {
        Waiting waiting = rooms.get(name(charge));
        if (waiting == null) {
            throw new AssertionError("nobody may wait for " + name(charge));
        }
        return waiting;
    }

    private boolean isNewestFirst(Charge charge) {
        return room(charge).order() == Order.NEWEST_FIRST;
    }

    private long maxWait(@Nullable Charge charge) {
        return charge == null ? 0 : room(charge).maxWait().toNanos();
    }

    private static String name(Charge charge) {
        return charge.policy().name();
    }

    // what must be true

    boolean anybodyWaits() {
        return !waiting().isEmpty();
    }

    List<Caller> waiting() {
        return callers.stream().filter(Caller::waits).toList();
    }

    /** Everything that was due is done, and no thread is in the queue. */
    void rest() {
        for (Caller caller : callers) {
            if (caller.isAnswered() && !caller.judged) {
                caller.judged = true;
                judge(caller);
            }
        }
        int inRooms = 0;
        for (Map.Entry<String, Waiting> room : rooms.entrySet()) {
            int size = queue.waiting(room.getKey());
            check(size <= room.getValue().maxWaiting(), "%s wait for %s", size, room);
            inRooms += size;
        }
        check(inRooms == waiting().size(), "%s wait, but in the rooms are %s", waiting(), inRooms);
        check(inRooms == 0 || !closed, "%s wait for a closed queue", waiting());
        check(inRooms > 0 || world.alarms() == 0, "nobody waits, but there are %s alarms", world.alarms());
        for (Caller caller : waiting()) {
            check(caller.mustGo == null, "%s waits, although %s", caller, caller.mustGo);
            long over = world.now() - caller.deadline;
            check(caller.vague || over < TOLERANCE + SLACK, "%s waits %s ns after its deadline", caller, over);
            checkServed(caller);
            checkOrder(caller);
        }
    }

    /** Whoever is first at all its budgets and could have its permits does not wait for them. */
    private void checkServed(Caller caller) {
        if (couldBeServed(caller)) {
            world.advance(SLACK);
            check(!couldBeServed(caller), "%s waits, although there are permits for it", caller);
        }
    }

    private boolean couldBeServed(Caller caller) {
        return caller.waits()
                && waiting().stream().noneMatch(other -> other != caller && mayBeAhead(other, caller))
                && store.peek(caller.charges).admitted();
    }

    private boolean mayBeAhead(Caller other, Caller caller) {
        for (Charge charge : caller.charges) {
            Waiting room = rooms.get(name(charge));
            if (room != null && other.charges.stream().anyMatch(charge::sameBudget)) {
                boolean newest = room.order() == Order.NEWEST_FIRST;
                return newest ? other.joined > caller.came : other.came < caller.joined;
            }
        }
        return false;
    }

    /** Nobody who came later and wants the same has got it. */
    private void checkOrder(Caller caller) {
        Charge budget = caller.charges.get(0);
        if (!caller.isPlain() || isNewestFirst(budget)) {
            return;
        }
        for (Caller other : callers) {
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
        callers.stream().filter(Judge::isAdmitted).forEach(caller -> told.add(caller.result().join()));
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
        boolean late = caller.answeredUntil >= caller.deadline - SLACK;
        check(
                closed || caller.mayGo || caller.mustGo != null || caller.hopeless || caller.vague || late,
                "%s was refused for nothing: %s",
                caller,
                told);
        Heard heard = caller.heard;
        Heard before = caller.before;
        check(
                (heard != null && isToldOf(heard, told, caller))
                        || (caller.disturbed && before != null && isToldOf(before, told, caller)),
                "%s heard %s but is told %s",
                caller,
                heard,
                told);
    }

    /** Whether a refusal is an answer of the store at its age. */
    private static boolean isToldOf(Heard heard, Decision told, Caller caller) {
        Decision last = heard.decision();
        if (told == last) {
            return true;
        }
        long least = caller.answeredFrom - heard.at() - SLACK;
        long most = caller.answeredUntil - heard.at() + SLACK;
        if (told.limits().size() != last.limits().size()) {
            return false;
        }
        for (int i = 0; i < told.limits().size(); i++) {
            LimitStatus was = last.limits().get(i);
            LimitStatus is = told.limits().get(i);
            boolean held = was.limit().concurrency();
            boolean own = caller.at == null || was.charge().sameBudget(caller.at) || caller.disturbed || caller.vague;
            boolean same = was.charge().equals(is.charge())
                    && was.limit().equals(is.limit())
                    && was.remaining() == is.remaining()
                    && isAged(was.fullAfterNanos(), is.fullAfterNanos(), least, most)
                    && isAged(was.nextAvailableNanos(), is.nextAvailableNanos(), held ? 0 : least, held ? 0 : most)
                    && (was.retryAfterNanos() == LimitAlgorithm.NEVER
                            ? is.retryAfterNanos() == LimitAlgorithm.NEVER
                            : is.retryAfterNanos() >= was.retryAfterNanos() - (held ? 0 : most)
                                    && (own
                                            || is.retryAfterNanos()
                                                    <= Math.max(1, was.retryAfterNanos() - (held ? 0 : least))));
            if (!same) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAged(long was, long is, long least, long most) {
        return is >= Math.min(was, Math.max(0, was - most)) && is <= Math.max(was == 0 ? 0 : 1, was - least);
    }

    private static void check(boolean holds, String otherwise, Object... details) {
        if (!holds) {
            throw new AssertionError(otherwise.formatted(details));
        }
    }
}

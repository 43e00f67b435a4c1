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
import dev.ratelimit.queue.storm.History.Setup;
import dev.ratelimit.queue.storm.History.Waited;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Follows what callers can see: who waits where, until when, and what must become of them. */
final class Model {

    /** By how much a wait may end late, as no alarm is exact: that of the queue. */
    static final long TOLERANCE = 10_000_000;

    /** More than the clock moves while it is read in one history. */
    static final long SLACK = 1_000_000;

    private static final String TOO_LONG = "a policy that refuses it lets nobody wait so long";

    final Map<String, Waiting> rooms = new HashMap<>();
    private final RateLimitStore store;
    private final RateLimitQueue queue;
    private final World world;

    final List<Caller> callers = new ArrayList<>();

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

    Model(Setup setup, RateLimitStore store, RateLimitQueue queue, World world) {
        for (Waited waited : setup.policies()) {
            if (waited.waiting() != null) {
                rooms.put(waited.policy().name(), waited.waiting());
            }
        }
        this.store = store;
        this.queue = queue;
        this.world = world;
    }

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

    /** Foreign code has failed, and nobody is told for whom. */
    void fails() {
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
        foreseeable = isKnownTo(caller);
        return caller;
    }

    /** Whether it is certain who waits where, and in which order. */
    private boolean isKnownTo(Caller caller) {
        for (String policy : rooms.keySet()) {
            if (line(other -> other.waitsIn(policy)).size() != queue.waiting(policy)) {
                return false;
            }
        }
        return callers.stream().noneMatch(other -> other.isComing(caller))
                && waiting().stream().noneMatch(other -> other.vague || other.at == null || other.cameMeanwhile());
    }

    /** Whether the running thread has an answer and does not know when it came. */
    boolean isListening() {
        return listens != null;
    }

    void asks(Caller caller) {
        asked = caller;
        caller.disturbed = false;
    }

    void hears(Caller caller, Decision decision) {
        caller.before = caller.heard;
        caller.heard = new Heard(decision, world.now());
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

    /** Permits are about to come back. */
    void improves() {
        seesWhoIsHopeless();
    }

    /** Somebody who waited has its answer just now. */
    void answered(Caller caller) {
        caller.answeredFrom = world.now();
        caller.answeredUntil = world.now();
    }

    /** The answer says where a caller waits from now on, and until when. */
    private void learns(Caller caller, Decision decision, long now) {
        boolean first = caller.at == null;
        if (decision.admitted()) {
            if (first) {
                caller.at = contested(caller);
                caller.vague |= caller.at == null
                        || callers.stream().anyMatch(other -> other.isComing(caller) || (other.vague && other.waits()));
                caller.deadline = now + maxWait(caller.at);
            }
            return;
        }
        Charge at = longestWait(decision);
        if (at == null) {
            caller.mustGo = TOO_LONG;
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
        List<Caller> others = line(other -> other.waitsIn(name(to)));
        if (others.size() > room(to).maxWaiting()) {
            others.forEach(other -> other.mayGo = true);
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
                    || (!status.limit().concurrency()
                            && wait > waiting.maxWait().toNanos())) {
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
        return store.peek(List.of(budget.policy().charge(budget.key(), permits))).limits().stream()
                .filter(status -> !status.limit().concurrency())
                .mapToLong(LimitStatus::retryAfterNanos)
                .max()
                .orElse(0);
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
            // refused as the store has refused it, or the clock has failed
            caller.mustGo = longestWait(decision) == null ? TOO_LONG : null;
        } else if (!foreseeable || caller.vague || closed) {
            String policy = name(caller.at);
            caller.mayGo = true;
            line(other -> other.at == null || other.waitsIn(policy)).forEach(other -> other.mayGo = true);
        } else if (caller.mustGo == null) {
            foresee(caller, caller.at);
        }
    }

    /** Nobody else has done anything: whether it waits, and who goes for it, is certain. */
    private void foresee(Caller caller, Charge at) {
        if (endsForThoseAhead(caller, at)) {
            return;
        }
        List<Caller> others = line(other -> other != caller && other.waitsIn(name(at)));
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
        // in a sliding window, permits still count in the period after theirs
        long most = ahead == 0 ? 0 : least + (all - asked + capacity - 1) / capacity * 2 * period;
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

    boolean isNewestFirst(Charge charge) {
        return room(charge).order() == Order.NEWEST_FIRST;
    }

    private long maxWait(@Nullable Charge charge) {
        return charge == null ? 0 : room(charge).maxWait().toNanos();
    }

    static String name(Charge charge) {
        return charge.policy().name();
    }

    boolean isClosed() {
        return closed;
    }

    List<Caller> waiting() {
        return callers.stream().filter(Caller::waits).toList();
    }
}

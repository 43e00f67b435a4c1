package dev.ratelimit.memory.storm;

import static java.util.Objects.requireNonNull;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.memory.storm.History.Setup;
import dev.ratelimit.memory.storm.Step.Kind;
import dev.ratelimit.memory.storm.Step.Want;
import dev.ratelimit.storm.Timeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Runs a history, and checks what must hold. */
final class Storm {

    /** The number of new keys of each policy in the end. */
    private static final int NEW_KEYS = 2;

    /** After this time, all keys are full. */
    private static final long LONG_NANOS = Duration.ofDays(1).toNanos();

    private final History history;
    private final Setup setup;
    private final StormClock clock;
    private final Weaver.WovenStore store;
    private final Stage stage;
    private final Timeline timeline;

    /** The calls that have ended. */
    private final List<Call> calls = new ArrayList<>();

    /** The decisions that may still be refunded, and their calls. */
    private final Map<Integer, Call> refundable = new HashMap<>();

    /** How many keys of each policy were evicted although they were not full. */
    private List<Long> evicted = List.of();

    private final Map<Integer, Decision> decisions = new HashMap<>();

    private Storm(History history, Timeline timeline) {
        this.history = history;
        this.setup = history.setup();
        this.timeline = timeline;
        this.clock = new StormClock(setup.tickNanos());
        this.store = Weaver.store(clock, setup.maxKeys());
        this.stage = new Stage(history.order(), setup.oneIn(), timeline);
    }

    /** Runs the history; {@code null} if all is well. */
    static @Nullable Throwable run(History history, Timeline timeline) {
        Storm storm = new Storm(history, timeline);
        try {
            storm.run();
            return null;
        } catch (AssertionError violation) {
            return violation;
        }
    }

    private void run() {
        stage.add(0, () -> runAll(Step.FIRST));
        stage.run();
        for (int i = 0; i < setup.threads(); i++) {
            int number = i;
            if (history.steps().stream().anyMatch(step -> step.thread() == number)) {
                stage.add(number, () -> runAll(number));
            }
        }
        stage.run();
        stage.add(0, this::lookAtAll);
        stage.run();

        String verdict = new Judge(setup, calls, evicted).verdict();
        if (verdict != null) {
            throw new AssertionError(verdict);
        }
    }

    private void runAll(int thread) {
        for (Step step : history.steps()) {
            if (step.thread() == thread) {
                run(step);
            }
        }
    }

    /** In the end, each key is asked about and some are new: nothing is locked, and each budget is as it must be. */
    private void lookAtAll() {
        int id = 1_000;
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            id = lookAtKeys(policy, id);
            for (int key = 0; key < NEW_KEYS; key++) {
                Want want = new Want(policy, 0, "new" + key, 1);
                run(new Step(id++, Step.LAST, Kind.DECIDE, List.of(want), 0, null));
            }
        }
        for (int call : new TreeSet<>(refundable.keySet())) {
            run(new Step(id++, Step.LAST, Kind.REFUND, List.of(), call, null));
        }
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            int from = calls.size();
            id = lookAtKeys(policy, id);
            if (isHeldForLong(policy)) {
                calls.subList(from, calls.size()).forEach(this::requireBalance);
            }
        }
        evicted = new ArrayList<>();
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            evicted.add(store.count("evictedActive", "p" + policy));
            long limits = setup.policies().get(policy).stream()
                    .mapToLong(List::size)
                    .max()
                    .orElse(0);
            require(keys(policy) <= limits * setup.maxKeys(), "there are " + keys(policy) + " keys of p" + policy);
        }
        require(clock.alarms() == 1, clock.alarms() + " alarms are set for a sweep");
        clock.advance(LONG_NANOS);
        clock.ring();
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            require(keys(policy) == 0, "after a sweep, " + keys(policy) + " full keys are left of p" + policy);
        }
    }

    private int lookAtKeys(int policy, int firstId) {
        int id = firstId;
        for (int key = 0; key < setup.keys(); key++) {
            Want want = new Want(policy, 0, key == 0 ? "" : "k" + key, 1);
            run(new Step(id++, Step.LAST, Kind.PEEK, List.of(want), 0, null));
        }
        return id;
    }

    /** Whether the permits of a policy come back by refunds only, and always do. */
    private boolean isHeldForLong(int policy) {
        return !setup.tight()
                && clock.reading(false).nanos() < History.LONG_HOLD.toNanos()
                && setup.policies().get(policy).size() == 1
                && setup.policies().get(policy).get(0).stream()
                        .allMatch(limit -> limit instanceof Concurrency held
                                && held.maxHold().equals(History.LONG_HOLD))
                && calls.stream()
                        .allMatch(call -> call.thrown == null
                                && call.step.kind() != Kind.RESET
                                && call.step.kind() != Kind.CLEAR);
    }

    /** What was admitted and not refunded is in use, and no more: counted here without any limit's help. */
    private void requireBalance(Call peek) {
        Charge asked = peek.charges.get(0);
        long used = 0;
        for (Call call : calls) {
            boolean refund = call.refunded != null && call.refunded.admitted;
            if (refund || (call.admitted && call.step.kind().charges())) {
                long permits = call.charges.stream()
                        .filter(asked::sameBudget)
                        .mapToLong(Charge::permits)
                        .sum();
                used += refund ? -permits : permits;
            }
        }
        for (LimitStatus status : requireNonNull(peek.decision).limits()) {
            long inUse = status.limit().capacity() - status.remaining();
            require(inUse == used, "%d are in use of %s, but should be %d".formatted(inUse, asked, used));
        }
    }

    private long keys(int policy) {
        return store.count("keys", "p" + policy);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }

    private void run(Step step) {
        boolean refunds = step.kind() == Kind.REFUND || step.kind() == Kind.REFUND_PART;
        Call refunded = refunds ? refundable.remove((int) step.number()) : null;
        List<Charge> charges = refunded == null ? charges(step, false) : refunded.budgets();
        Call call = new Call(step, step.kind() == Kind.REFUND_PART ? part(charges) : charges, refunded);
        Actor actor = (Actor) Thread.currentThread();
        call.began = calls.size();
        actor.readings().clear();
        timeline.note(() -> "+ " + step);
        Fuse fuse = step.fault() == null ? null : new Fuse(step.fault());
        actor.arm(fuse);
        try {
            call(step, call);
        } catch (RuntimeException | Error e) {
            if (fuse == null || fuse.thrown() != e) {
                throw e;
            }
            call.thrown = fuse;
        } finally {
            actor.arm(null);
        }
        call.ended = calls.size();
        if (actor.readings().isEmpty()) {
            actor.readings().add(clock.reading(false));
        }
        call.readings = List.copyOf(actor.readings());
        calls.add(call);
        stage.progress();
        timeline.note(() -> "- call %d: %s".formatted(step.id(), call.outcome()));
    }

    private void call(Step step, Call call) {
        RateLimitStore asked = store.calls();
        List<Charge> charges = charges(step, true);
        switch (step.kind()) {
            case TRY_ONE -> call.admitted = asked.tryCharge(charges.get(0));
            case TRY -> call.admitted = asked.tryCharge(charges);
            case DECIDE -> {
                Decision decision = asked.decide(charges);
                call.decision = decision;
                call.admitted = decision.admitted();
                decisions.put(step.id(), decision);
                refundable.put(step.id(), call);
            }
            case PEEK -> {
                Decision decision = asked.peek(charges);
                call.decision = decision;
                call.admitted = decision.admitted();
            }
            case REFUND, REFUND_PART -> {
                Decision decision = decisions.get((int) step.number());
                if (decision != null && call.refunded != null) {
                    asked.refund(decision, call.charges);
                }
            }
            case RESET -> asked.reset(charges.get(0).policy(), charges.get(0).key());
            case CLEAR -> store.clear();
            case SWEEP -> clock.ring();
            case ADVANCE -> clock.advance(step.number());
            case SET_BACK -> clock.setWallClockBack(step.number());
        }
    }

    private static List<Charge> part(List<Charge> charges) {
        return charges.stream()
                .limit(1)
                .map(all -> all.policy().charge(all.key(), Math.min(1, all.permits())))
                .toList();
    }

    private List<Charge> charges(Step step, boolean watched) {
        List<Charge> charges = new ArrayList<>();
        for (Want want : step.wants()) {
            Policy policy =
                    watched ? setup.watched(want.policy(), want.plan()) : setup.policy(want.policy(), want.plan());
            charges.add(policy.charge(want.key(), want.permits()));
        }
        return List.copyOf(charges);
    }
}

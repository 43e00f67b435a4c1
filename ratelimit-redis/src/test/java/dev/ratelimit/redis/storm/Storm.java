package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.History.Setup;
import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Trouble;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Actor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs a history, and checks at each step what must hold. */
final class Storm {

    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000 * MILLI;

    /** Between two rounds of questions. */
    private static final long BETWEEN_NANOS = 3 * SECOND;

    /** Within this time after the last fault, everything is as before: the first call after 33 s is a probe. */
    private static final long RECOVERY_NANOS = 39 * SECOND;

    /** The same if a probe may have to connect first, which takes longer than a decision waits: the next call is one. */
    private static final long SLOW_RECOVERY_NANOS = RECOVERY_NANOS + BETWEEN_NANOS;

    private static final int TOGETHER = 4;

    /** As many rounds of questions that servers answer suffice: others would only repeat them. */
    private static final int ENOUGH = 3;

    /** How much longer than its deadline a call may take: its thread does not run at once. */
    static final long WAKE_NANOS = 2 * MILLI;

    /** A call of which others may know. */
    private static final class Call {
        private final Instance instance;
        private final @Nullable Call former;
        private @Nullable Actor actor;
        private @Nullable Decision decision;

        private Call(Instance instance, @Nullable Call former) {
            this.instance = instance;
            this.former = former;
        }
    }

    private final History history;
    private final Setup setup;
    private final World world;
    private final Books books;
    private final Shares shares;
    private final Network network;
    private final List<Instance> instances = new ArrayList<>();
    private final Map<Integer, Call> calls = new HashMap<>();
    private final Troubles troubles;
    private final @Nullable List<String> timeline;
    private int withoutServer;

    private Storm(History history, @Nullable List<String> timeline) {
        this.history = history;
        this.setup = history.setup();
        this.timeline = timeline;
        this.world = new World(history.seed());
        this.books = new Books(
                world,
                setup.leased(),
                none(Step.Fault::changesBudgets),
                !setup.refunds() && none(Step.Fault::delaysCommands));
        this.shares = new Shares(
                world, setup.localShare(), !setup.leased() && none(fault -> fault == Step.Fault.OTHER_LIMITS));
        this.network = new Network(world, books, 2 * setup.masters(), setup);
        if (setup.masters() > 1) {
            network.cluster(new Slots(network.servers(), setup.masters()));
        }
        for (int i = 0; i < setup.instances(); i++) {
            instances.add(new Instance(i, world, network, history, this::note));
        }
        this.troubles = new Troubles(world, network, keyNames());
    }

    private boolean none(Predicate<Step.Fault> kind) {
        return history.steps().stream()
                .noneMatch(step -> step instanceof Trouble trouble && kind.test(trouble.fault()));
    }

    /** Runs a history; returns what did not hold, or {@code null}. */
    static @Nullable Throwable run(History history) {
        return run(history, null);
    }

    /** Runs a history and writes down what happens. */
    static @Nullable Throwable run(History history, @Nullable List<String> timeline) {
        Storm storm = new Storm(history, timeline);
        try {
            storm.run();
            return null;
        } catch (AssertionError | RuntimeException e) {
            storm.note("FAILED: " + e.getMessage());
            return e;
        } finally {
            storm.world.close();
        }
    }

    private void require(boolean holds, String message, @Nullable Object... parameters) {
        world.require(holds, message, parameters);
    }

    private void note(String what) {
        if (timeline != null) {
            timeline.add(String.format(Locale.ROOT, "%12.6f s  %s", world.now() / 1e9, what));
        }
    }

    private void run() {
        for (Instance instance : instances) {
            Actor unused = instance.place().start(instance::open);
        }
        runUntil(3 * SECOND);
        long begin = world.now();
        long last = begin + History.CALLS_NANOS;
        for (Step step : history.steps()) {
            Runnable task = step instanceof Ask ask ? () -> start(ask) : () -> begin((Trouble) step);
            world.in(begin + step.atNanos() - world.now(), world.outside(), task);
            if (step instanceof Trouble trouble) {
                last = Math.max(last, begin + Troubles.end(trouble));
            }
        }
        runUntil(begin + History.CALLS_NANOS);
        while (world.now() < last + SECOND) {
            askAll();
        }
        recover();
        close();
    }

    private void runUntil(long end) {
        world.runUntil(end);
        world.throwFailure();
    }

    private void begin(Trouble trouble) {
        Instance instance = instances.get(trouble.instance());
        note(trouble.toString());
        switch (trouble.fault()) {
            case CLOSED -> {
                troubles.begin(trouble, instance.place());
                close(instance);
            }
            case OTHER_LIMITS -> instance.changeLimits();
            default -> troubles.begin(trouble, instance.place());
        }
    }

    private List<String> keyNames() {
        return IntStream.range(0, setup.keys())
                .mapToObj(key -> Seam.firstKey(
                        Books.PREFIX, Instance.policy(history, 0, false).charge("k" + key)))
                .toList();
    }

    private void start(Ask ask) {
        Call former = calls.get(ask.of());
        // only the store that decided can refund
        Instance instance = ask.question() == Step.Question.REFUND && former != null
                ? former.instance
                : instances.get(ask.instance());
        if (!instance.usable()) {
            return;
        }
        Call call = new Call(instance, former);
        calls.put(ask.id(), call);
        if (ask.question() == Step.Question.INTERRUPT) {
            if (former != null && former.actor != null && !former.actor.done) {
                note(ask.toString());
                former.instance.interrupted();
                network.interrupted(former.instance.place());
                Actor interrupted = former.actor;
                world.in(0, former.instance.place(), interrupted::interrupt);
            }
            return;
        }
        call.actor = instance.place().start(() -> call(ask, call, instance));
    }

    private void call(Ask ask, Call call, Instance instance) {
        RedisStore store = instance.store();
        List<Charge> charges = ask.wants().stream().map(instance::charge).toList();
        long began = world.now();
        long stoodStill = troubles.stoodStill(instance.place());
        int failuresBefore = instance.failures();
        int crowdedBefore = instance.crowded();
        List<Charge> untouched = charges.stream()
                .filter(charge -> troubles.untouched(instance.place(), network.server(charge)))
                .toList();
        instance.forgetFailure();
        instance.begins();
        String outcome = "";
        try {
            switch (ask.question()) {
                case DECIDE -> {
                    Decision decision = store.decide(charges);
                    call.decision = decision;
                    books.granted(decision, began);
                    shares.answered(instance.place(), decision, true);
                    if (instance.crowded() == crowdedBefore) {
                        requireAsked(instance, charges, here(decision), untouched);
                    }
                    instance.answered(decision, began);
                    outcome = (decision.admitted() ? "admitted" : "refused") + places(decision);
                }
                case PEEK -> {
                    Decision decision = store.peek(charges);
                    shares.answered(instance.place(), decision, false);
                    instance.answered(decision, began);
                    outcome = places(decision);
                }
                case REFUND -> {
                    Call former = call.former;
                    Decision decision = former == null ? null : former.decision;
                    if (former != null && decision != null && decision.admitted()) {
                        former.decision = null;
                        books.returned(decision);
                        shares.returned(instance.place(), decision);
                        charges = decision.charges();
                        store.refund(decision);
                        charges.stream()
                                .filter(charge -> Seam.byServer(decision, charge))
                                .forEach(instance::returned);
                    }
                }
                case RESET -> {
                    books.reset(charges.get(0));
                    shares.reset(instance.place(), charges.get(0));
                    store.reset(charges.get(0).policy(), charges.get(0).key());
                    shares.wasReset(instance.place(), charges.get(0));
                    instance.returned(charges.get(0));
                }
                case INTERRUPT -> throw new IllegalStateException();
            }
        } catch (StoreUnavailableException e) {
            require(setup.deny() && e.policy().equals("p1"), "%s does not fail closed", e.policy());
            outcome = "unavailable";
            if (instance.crowded() == crowdedBefore) {
                List<Charge> closed = charges.stream()
                        .filter(charge -> charge.policy().name().equals("p1"))
                        .toList();
                requireAsked(instance, charges, closed, untouched);
            }
        }
        instance.ends();
        boolean interrupted = Thread.interrupted();
        if (instance.failures() > failuresBefore || interrupted) {
            charges.forEach(books::excuse);
        }
        if (timeline != null) {
            note(ask + ": " + outcome);
        }
        long took = world.now() - began;
        require(
                took <= setup.deadlineNanos() + WAKE_NANOS || troubles.stoodStill(instance.place()) > stoodStill,
                "%s took %.3f ms",
                ask,
                took / 1e6);
    }

    private static List<Charge> here(Decision decision) {
        return decision.charges().stream()
                .filter(charge -> Seam.inMemory(decision, charge))
                .toList();
    }

    /** Servers without a fault are used, whatever happens to others. */
    private void requireAsked(Instance instance, List<Charge> charges, List<Charge> notAsked, List<Charge> untouched) {
        boolean excused = instance.interrupts() > 0 || !charges.stream().allMatch(troubles::untouched);
        for (Charge charge : notAsked) {
            require(
                    excused
                            || !untouched.contains(charge)
                            || !troubles.untouched(instance.place(), network.server(charge)),
                    "%s does not ask for %s, whose server is well: %s",
                    instance.place(),
                    charge,
                    instance.lastFailure());
        }
    }

    private String places(Decision decision) {
        StringBuilder places = new StringBuilder(" by");
        for (Charge charge : decision.charges()) {
            places.append(
                    Seam.byServer(decision, charge)
                            ? " a server"
                            : Seam.inMemory(decision, charge) ? " memory" : " nobody");
        }
        return places.toString();
    }

    /** After the last fault, asks for all keys until servers answer, and requires this once all must be well. */
    private void recover() {
        troubles.removeForeign();
        long well = world.now() + recoveryNanos();
        int rounds = 0;
        while (world.now() < well && rounds < ENOUGH) {
            int before = withoutServer;
            askAll();
            rounds = withoutServer > before ? 0 : rounds + 1;
        }
        runUntil(well);
        for (int i = 0; i < Math.min(setup.maxInFlight(), TOGETHER); i++) {
            instances.forEach(instance -> askForAll(instance, true));
        }
        runUntil(world.now() + SECOND);
    }

    private void askAll() {
        instances.forEach(instance -> askForAll(instance, false));
        runUntil(world.now() + BETWEEN_NANOS);
    }

    private long recoveryNanos() {
        boolean slow = setup.connectNanos() + 2 * MILLI >= setup.deadlineNanos();
        // after a long time without a network, a probe may find out that its connection is dead
        boolean dead = !none(Step.Fault::killsSilently);
        return (slow || dead ? SLOW_RECOVERY_NANOS : RECOVERY_NANOS) + setup.handshakeNanos();
    }

    private void askForAll(Instance instance, boolean requireWell) {
        if (!instance.usable()) {
            return;
        }
        Actor unused = instance.place().start(() -> askForEach(instance, requireWell));
    }

    private void askForEach(Instance instance, boolean requireWell) {
        for (int key = 0; key < setup.keys(); key++) {
            Charge charge = instance.charge(new Want(0, key, 0));
            instance.begins();
            Decision decision = instance.store().peek(List.of(charge));
            instance.ends();
            shares.answered(instance.place(), decision, false);
            withoutServer += Seam.byServer(decision, charge) ? 0 : 1;
            instance.answered(decision, world.now());
            require(
                    !requireWell || Seam.byServer(decision, charge),
                    "%s does not ask for %s although all has been well for %d s: %s",
                    instance.place(),
                    charge,
                    recoveryNanos() / SECOND,
                    instance.lastFailure());
        }
    }

    private void close(Instance instance) {
        if (instance.usable()) {
            Actor unused = instance.place().start(instance::close);
        }
    }

    /** After all instances are closed, nothing of them may be left. */
    private void close() {
        instances.forEach(this::close);
        runUntil(world.now() + 5 * SECOND);
        for (Instance instance : instances) {
            require(
                    world.unfinished(instance.place()) == 0 || instance.place().hasEnded(),
                    "%s: calls do not end",
                    instance.place());
            require(
                    network.connections(instance.place()) == 0
                            || instance.place().hasEnded(),
                    "%s: connections stay open",
                    instance.place());
            require(
                    world.pending(instance.place()) == 0 || instance.place().hasEnded(),
                    "%s: alarms stay set",
                    instance.place());
        }
        books.requireBounds(troubles.gains());
        if (none(Step.Fault::losesAnswers)) {
            books.balanceCharges();
            // of a lease that ends, a bucket gets back only what it has not refilled meanwhile
            if (!setup.leased()) {
                books.balance();
            }
        }
        world.throwFailure();
    }
}

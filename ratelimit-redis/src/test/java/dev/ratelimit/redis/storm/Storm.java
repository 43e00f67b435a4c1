package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Question;
import dev.ratelimit.redis.storm.Step.Trouble;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Actor;
import dev.ratelimit.redis.storm.World.Place;
import dev.ratelimit.storm.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs a history, and checks at each step what must hold. */
final class Storm {

    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000 * MILLI;

    /** Between two rounds of questions. */
    private static final long BETWEEN_NANOS = 3 * SECOND;

    /** Within this time after the end of any fault, a server is used again, whether or not anybody asks. */
    static final long RECOVERY_NANOS = 3 * SECOND;

    /** How long refunds take at most that were kept. */
    private static final long OWED_NANOS = 3 * SECOND;

    /** The rounds of questions until a connection is found dead, and a server is asked that knows who has taken over. */
    private static final int MAX_IN_VAIN = 4;

    private static final int TOGETHER = 8;

    /** How often an instance is asked before it closes: its leases begin with eight. */
    private static final int MIN_LAST = 6;

    private static final int MAX_LAST = 30;

    /** How much longer than its deadline a call may take: its thread does not run at once. */
    static final long WAKE_NANOS = 2 * MILLI;

    private final History history;
    private final Setup setup;
    private final World world;
    private final Books books;
    private final Shares shares;
    private final Network network;
    private final List<Instance> instances = new ArrayList<>();
    private final Troubles troubles;
    private final Callers callers;

    /** Whether all that was held has come back. */
    private boolean checksHeld;

    private Storm(History history, Timeline timeline) {
        this.history = history;
        this.setup = history.setup();
        this.world = new World(setup.seed(), timeline);
        boolean interrupts = !history.nobodyAsks(Question.INTERRUPT);
        this.books = new Books(
                world,
                setup,
                history.none(Fault::changesBudgets),
                history.keepsAll() && !interrupts && history.none(Fault::delaysCommands),
                history.nobodyAsks(Question.REFUND, Question.REFUND_HALF, Question.ACQUIRE)
                        && !interrupts
                        && !setup.isCluster()
                        && history.none(Fault::losesAnswers)
                        && history.none(Fault::delaysCommands));
        this.shares = new Shares(world, setup.localShare(), !setup.leased() && history.none(Fault.OTHER_LIMITS));
        this.network = new Network(world, books, 2 * setup.masters(), setup);
        if (setup.masters() > 1) {
            network.cluster(new Slots(network.servers(), setup.masters()));
        }
        if (setup.scriptsKnown()) {
            List<String> scripts = Seam.scripts(setup.allPolicies());
            network.servers().forEach(server -> scripts.forEach(server.data()::load));
        }
        for (int i = 0; i < setup.instances(); i++) {
            instances.add(new Instance(i, world, network, history));
        }
        this.troubles = new Troubles(world, network, setup);
        this.callers =
                new Callers(new Callers.Scene(world, setup, network, books, shares, troubles), instances, history);
    }

    /** Runs a history; returns what did not hold, or {@code null}. */
    static @Nullable Throwable run(History history, Timeline timeline) {
        Storm storm = new Storm(history, timeline);
        try {
            storm.run();
            return null;
        } catch (AssertionError | RuntimeException e) {
            return e;
        } finally {
            storm.world.close();
        }
    }

    private void require(boolean holds, String message, @Nullable Object... parameters) {
        world.require(holds, message, parameters);
    }

    private void run() {
        long begin = 3 * SECOND;
        for (Instance instance : instances) {
            boolean late = setup.opensAtNanos() > 0 && instance == instances.get(instances.size() - 1);
            Runnable start = () -> {
                Actor unused = instance.place().start(instance::open);
            };
            world.in(late ? begin + setup.opensAtNanos() : 0, world.outside(), start);
        }
        runUntil(begin);
        long calls =
                begin + history.steps().stream().mapToLong(Step::atNanos).max().orElse(0);
        long last = Math.max(calls, begin + setup.opensAtNanos());
        for (Step step : history.steps()) {
            Runnable task = step instanceof Ask ask ? () -> callers.start(ask) : () -> begin((Trouble) step);
            world.in(begin + step.atNanos() - world.now(), world.outside(), task);
            if (step instanceof Trouble trouble) {
                last = Math.max(last, begin + Troubles.end(trouble));
            }
        }
        runUntil(calls + SECOND);
        while (world.now() < last && !setup.quiet()) {
            askAll(false);
        }
        recover(Math.max(last, world.now()));
        close();
    }

    private void runUntil(long end) {
        world.runUntil(end);
        world.throwFailure();
    }

    private void begin(Trouble trouble) {
        Instance instance = instances.get(trouble.instance());
        world.note(trouble::toString);
        switch (trouble.fault()) {
            case CLOSED -> {
                troubles.begin(trouble, instance.place());
                close(instance);
            }
            case OTHER_LIMITS -> instance.changeLimits();
            default -> troubles.begin(trouble, instance.place());
        }
    }

    /**
     * After the last fault, lets all become well again by itself, and requires it: servers are used, what is held comes
     * back, and each budget balances.
     */
    private void recover(long from) {
        runUntil(from);
        troubles.removeForeign();
        runUntil(from + RECOVERY_NANOS);
        for (Instance instance : instances) {
            require(
                    !instance.usable() || instance.available(),
                    "%s leaves a server alone although all has been well for %d s",
                    instance.place(),
                    RECOVERY_NANOS / SECOND);
        }
        if (callers.areDoubtful()) {
            // the first request finds out that its connection is dead, or out of step unless it reads an old error
            // first, or
            // has to wait too long for one; in a cluster, each that fails asks another server which one has taken over
            for (int rounds = setup.isCluster() ? MAX_IN_VAIN : 2; rounds > 0; rounds--) {
                askAll(false);
            }
            runUntil(world.now() + troubles.replacementNanos());
        }
        callers.returnHeld();
        runUntil(world.now() + SECOND);
        for (int i = 0; i < Math.min(setup.maxInFlight(), TOGETHER); i++) {
            askAll(true);
        }
        runUntil(world.now() + OWED_NANOS);
        if (history.none(Fault.FAIL_OVER)) {
            checksHeld = true;
            askAll(true);
            runUntil(world.now() + SECOND + setup.keys() * setup.deadlineNanos());
        }
    }

    private void askAll(boolean requireWell) {
        for (Instance instance : instances) {
            if (instance.usable()) {
                Actor unused = instance.place().start(() -> askForEach(instance, requireWell));
            }
        }
        if (!requireWell) {
            runUntil(world.now() + BETWEEN_NANOS);
        }
    }

    private void askForEach(Instance instance, boolean requireWell) {
        for (int key = 0; key < setup.keys(); key++) {
            Charge charge = instance.charge(new Want(0, key, 0));
            instance.begins();
            // charges may wait for each other, and leases count as in flight
            Decision decision = requireWell && !setup.leased()
                    ? instance.store().decide(List.of(charge))
                    : instance.store().peek(List.of(charge));
            instance.ends();
            if (checksHeld) {
                books.requireFree(decision);
            }
            shares.answered(instance.place(), decision, false, world.now());
            instance.answered(decision, world.now());
            require(
                    !requireWell || Seam.byServer(decision, charge),
                    "%s does not ask for %s although all has been well for %d s: %s",
                    instance.place(),
                    charge,
                    RECOVERY_NANOS / SECOND,
                    instance.lastFailure());
        }
    }

    private void close(Instance instance) {
        if (instance.usable()) {
            Actor unused = instance.place().start(instance::close);
        }
    }

    /** Closes an instance right after its last calls, which have got it a lease or have just asked for one. */
    private void closeLeased(Instance instance) {
        int last = MIN_LAST + world.random.nextInt(MAX_LAST - MIN_LAST);
        if (instance.usable()) {
            Actor unused = instance.place().start(() -> {
                for (int i = 0; i < last; i++) {
                    callers.decide(instance, new Want(0, 0, 1));
                }
                instance.close();
            });
        }
    }

    /** After all instances are closed, nothing of them may be left. */
    private void close() {
        Set<Place> gone = instances.stream()
                .filter(instance -> !instance.usable())
                .map(Instance::place)
                .collect(Collectors.toSet());
        instances.forEach(setup.leased() ? this::closeLeased : this::close);
        runUntil(world.now() + 5 * SECOND + 4 * MAX_LAST * setup.farNanos());
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
                    instance.waiters().waiting() == 0 || instance.place().hasEnded(),
                    "%s: %d callers wait for ever",
                    instance.place(),
                    instance.waiters().waiting());
            require(
                    world.pending(instance.place()) == 0 || instance.place().hasEnded(),
                    "%s: alarms stay set",
                    instance.place());
        }
        books.requireBounds(troubles.gains());
        books.balance(gone, this::replenishNanos, troubles::stoodStill);
        world.throwFailure();
    }

    /** The time in which the limit of this key, in any version, is full again. */
    private long replenishNanos(String key) {
        return setup.limits(key).stream()
                .mapToLong(LimitAlgorithm::replenishNanos)
                .min()
                .orElseThrow();
    }
}

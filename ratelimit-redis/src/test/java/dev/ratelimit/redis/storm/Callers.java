package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Question;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Actor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The callers of the stores: they ask, and enter in the books what they are told. */
final class Callers {

    /** What callers act upon. */
    record Scene(World world, Setup setup, Network network, Books books, Shares shares, Troubles troubles) {}

    /** A call of which others may know. */
    private static final class Call {
        private final Instance instance;
        private final @Nullable Call former;
        private @Nullable Actor actor;
        private @Nullable Decision decision;
        private @Nullable CompletableFuture<Decision> awaited;

        /** Whether the decision took permits, if it was admitted. */
        private boolean charging;

        private Call(Instance instance, @Nullable Call former) {
            this.instance = instance;
            this.former = former;
        }
    }

    /** What the round trips of connecting take. */
    private static final long CONNECT_NANOS = 5_000_000;

    private final World world;
    private final Setup setup;
    private final Network network;
    private final Books books;
    private final Shares shares;
    private final Troubles troubles;
    private final List<Instance> instances;
    private final Map<Integer, Call> calls = new HashMap<>();
    private final Map<List<?>, Long> firstInVain = new HashMap<>();

    /** Whether a call may find out that its connection is dead or out of step, or that there is none in time. */
    private final boolean doubtful;

    Callers(Scene scene, List<Instance> instances, History history) {
        this.doubtful = !history.none(Fault::killsSilently)
                || !history.none(Fault::confusesReplies)
                || scene.setup.connectNanos() + CONNECT_NANOS + 9 * scene.setup.farNanos()
                        >= scene.setup.deadlineNanos();
        this.world = scene.world;
        this.setup = scene.setup;
        this.network = scene.network;
        this.books = scene.books;
        this.shares = scene.shares;
        this.troubles = scene.troubles;
        this.instances = instances;
        instances.forEach(instance -> instance.wait(new Waiters(scene, instance)));
    }

    /** Asks, on a thread of the instance. */
    void start(Ask ask) {
        Call former = calls.get(ask.of());
        // only the store that decided can refund
        boolean refunds = ask.question() == Question.REFUND || ask.question() == Question.REFUND_HALF;
        Instance instance = refunds && former != null ? former.instance : instances.get(ask.instance());
        boolean decides = ask.question() == Question.DECIDE || ask.question() == Question.PEEK;
        if (!instance.usable() && !(decides && instance.isClosed())) {
            return;
        }
        Call call = new Call(instance, former);
        calls.put(ask.id(), call);
        if (ask.question() == Question.INTERRUPT && former != null && former.awaited != null) {
            CompletableFuture<Decision> awaited = former.awaited;
            world.note(ask::toString);
            world.in(0, former.instance.place(), () -> awaited.cancel(true));
            return;
        } else if (ask.question() == Question.INTERRUPT) {
            if (former != null && former.actor != null && !former.actor.done) {
                world.note(ask::toString);
                former.instance.interrupted();
                network.interrupted(former.instance.place());
                Actor interrupted = former.actor;
                world.in(0, former.instance.place(), interrupted::interrupt);
            }
            return;
        }
        call.actor = instance.place().start(() -> {
            if (ask.question() == Question.ACQUIRE) {
                acquire(ask, call, instance);
            } else {
                call(ask, call, instance);
            }
        });
    }

    /** Lets the actor that runs ask an instance. */
    void decide(Instance instance, Want want) {
        Ask ask = new Ask(Ask.NONE, 0, instance.number(), Question.DECIDE, List.of(want), Ask.NONE);
        call(ask, new Call(instance, null), instance);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what follows does not fail
    private void acquire(Ask ask, Call call, Instance instance) {
        call.charging = true;
        world.note(ask::toString);
        CompletableFuture<Decision> awaited = instance.waiters()
                .acquire(Charge.addUp(ask.wants().stream().map(instance::charge).toList()));
        call.awaited = awaited;
        awaited.whenComplete((decision, failure) -> {
            call.decision = decision;
            world.note(() -> ask + ": " + (decision == null ? failure : decision.admitted() ? "admitted" : "refused"));
        });
    }

    private void call(Ask ask, Call call, Instance instance) {
        List<Charge> asked = ask.wants().stream().map(instance::charge).toList();
        List<Charge> charges = Charge.addUp(asked);
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
        List<Charge> notAsked = List.of();
        try {
            switch (ask.question()) {
                case DECIDE, PEEK -> {
                    call.charging = ask.question() == Question.DECIDE;
                    Decision decision = decide(ask, call, asked, began);
                    notAsked = call.charging ? withoutServer(decision) : List.of();
                    String answer = decision.admitted() ? "admitted by " : "refused by ";
                    outcome = (call.charging ? answer : "answered by ") + places(decision);
                }
                case REFUND -> charges = refund(ask, call.former, Charge::permits);
                case REFUND_HALF -> charges = refund(ask, call.former, charge -> (charge.permits() + 1) / 2);
                case RESET -> reset(instance, charges.get(0));
                case INTERRUPT, ACQUIRE -> throw new IllegalStateException();
            }
        } catch (StoreUnavailableException e) {
            world.require(setup.onFailure(e.policy()) == OnStoreFailure.DENY, "%s does not fail closed", e.policy());
            outcome = "unavailable";
            notAsked = charges.stream()
                    .filter(charge -> charge.policy().name().equals(e.policy()))
                    .toList();
        }
        instance.ends();
        boolean interrupted = Thread.interrupted();
        // while a slot moves, the keys of one call may be on two servers
        boolean apart = instance.lastFailure() == RedisStoreFailure.MOVING && keys(charges) > 1;
        if (instance.crowded() == crowdedBefore && !interrupted && !apart) {
            requireAsked(instance, charges, notAsked, untouched, began);
        }
        if (instance.failures() > failuresBefore || interrupted) {
            charges.stream()
                    .filter(charge -> interrupted || !isKnown(ask, call, charge, untouched))
                    .forEach(books::doubt);
        }
        String told = outcome;
        world.note(() -> told.isEmpty() ? ask.toString() : ask + ": " + told);
        long took = world.now() - began;
        world.require(
                took <= setup.deadlineNanos() + Storm.WAKE_NANOS || troubles.stoodStill(instance.place()) > stoodStill,
                "%s took %.3f ms",
                ask,
                took / 1e6);
    }

    private static int keys(List<Charge> charges) {
        return charges.stream()
                .mapToInt(charge -> charge.policy().limits().size())
                .sum();
    }

    private Decision decide(Ask ask, Call call, List<Charge> asked, long began) {
        RateLimitStore store = call.instance.store();
        if (isAsynchronous(ask)) {
            // entered in the books at the moment of the decision: others may be told before the caller goes on
            return await(
                    call,
                    (call.charging ? store.decideAsync(asked) : store.peekAsync(asked))
                            .thenApply(decision -> told(call, decision, began)));
        }
        return told(call, call.charging ? store.decide(asked) : store.peek(asked), began);
    }

    private Decision told(Call call, Decision decision, long began) {
        call.decision = decision;
        if (call.charging) {
            books.granted(call.instance.place(), decision, began);
            books.refused(decision);
        }
        shares.answered(call.instance.place(), decision, call.charging, began);
        call.instance.answered(decision, began);
        return decision;
    }

    /** A quarter of all callers leave their thread to others while the store is asked. */
    private boolean isAsynchronous(Ask ask) {
        return (setup.seed() + ask.id()) % 4 == 3;
    }

    /** What an asynchronous caller is told in the end: here, its actor has nothing else to do meanwhile. */
    private <T extends @Nullable Object> T await(Call call, CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        boolean interrupted = false;
        while (!future.isDone()) {
            try {
                boolean unused = call.instance.place().await(future, setup.deadlineNanos());
            } catch (InterruptedException e) {
                // nobody knows whom to interrupt
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            return future.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException exception ? exception : e;
        }
    }

    /** Refunds a former decision, or a part of it, once; nothing if it took nothing. */
    private List<Charge> refund(Ask ask, @Nullable Call former, ToLongFunction<Charge> part) {
        Decision decision = former == null ? null : former.decision;
        if (former == null || decision == null) {
            return List.of();
        }
        former.decision = null;
        Instance instance = former.instance;
        boolean taken = former.charging && decision.admitted();
        if (taken) {
            books.returned(decision, part);
            shares.returned(instance.place(), decision, part);
        }
        List<Charge> charges = decision.charges();
        List<Charge> refunded = charges.stream()
                .map(charge -> charge.policy().charge(charge.key(), part.applyAsLong(charge)))
                .toList();
        if (isAsynchronous(ask)) {
            await(former, instance.store().refundAsync(decision, refunded));
        } else {
            instance.store().refund(decision, refunded);
        }
        charges.stream()
                .filter(charge -> taken && Seam.byServer(decision, charge))
                .forEach(instance::returned);
        return charges;
    }

    /** Whether a call may be in vain although all is well again. */
    boolean areDoubtful() {
        return doubtful;
    }

    /** Returns all permits that callers hold of limits that do not refill. */
    void returnHeld() {
        for (Call call : calls.values()) {
            Decision decision = call.decision;
            if (decision != null && call.charging && decision.admitted() && call.instance.usable()) {
                List<Charge> held = decision.charges().stream()
                        .filter(charge -> charge.policy().concurrency())
                        .toList();
                call.decision = null;
                Actor unused = call.instance.place().start(() -> {
                    world.note(() -> call.instance.place() + ": returns " + places(decision));
                    returned(call.instance, decision, held);
                    call.instance.store().refund(decision, held);
                });
            }
        }
    }

    /** Records that permits are about to be returned. */
    private void returned(Instance instance, Decision decision, List<Charge> part) {
        ToLongFunction<Charge> permits = charge -> part.stream()
                .filter(returned -> returned.sameBudget(charge))
                .mapToLong(Charge::permits)
                .sum();
        books.returned(decision, permits);
        shares.returned(instance.place(), decision, permits);
    }

    private void reset(Instance instance, Charge charge) {
        long began = world.now();
        books.reset(charge);
        shares.reset(instance.place(), charge);
        instance.store().reset(charge.policy(), charge.key());
        books.wasReset(instance.place(), charge, began);
        shares.wasReset(instance.place(), charge);
        instance.returned(charge);
    }

    /** Whether a server, with which nothing was wrong, has told the caller what became of a charge. */
    private boolean isKnown(Ask ask, Call call, Charge charge, List<Charge> untouched) {
        Decision decision = call.decision;
        boolean told = decision == null
                ? setup.connectNanos() == 0
                : decision.charges().stream().anyMatch(each -> each.equals(charge) && Seam.byServer(decision, each));
        return ask.question() == Question.DECIDE
                && told
                && untouched.contains(charge)
                && troubles.untouched(call.instance.place(), network.server(charge))
                && troubles.untouched(charge);
    }

    private List<Charge> withoutServer(Decision decision) {
        return decision.charges().stream()
                .filter(charge -> Seam.inMemory(decision, charge)
                        || (setup.onFailure(charge.policy().name()) == OnStoreFailure.ALLOW
                                && !Seam.byServer(decision, charge)
                                && !Seam.fromCache(decision)))
                .toList();
    }

    /** Servers are used with which nothing is or was wrong, or with which all has been well for a while. */
    private void requireAsked(
            Instance instance, List<Charge> charges, List<Charge> notAsked, List<Charge> untouched, long began) {
        boolean calm = network.calmSince(began - Storm.RECOVERY_NANOS);
        boolean foreign = !charges.stream().allMatch(troubles::untouched);
        for (Charge charge : notAsked) {
            Server server = network.server(charge);
            boolean spared = !foreign
                    && network.connecting().hasBeen(instance.place(), server)
                    && !instance.startedAmidFaults()
                    && untouched.contains(charge)
                    && troubles.untouched(instance.place(), server);
            boolean well = calm && instance.usable() && !inDoubt(instance, server, began);
            world.require(
                    !(spared || well) || network.asksTooOften(instance.place(), began - Storm.RECOVERY_NANOS),
                    "%s does not ask for %s, whose server is well: %s",
                    instance.place(),
                    charge,
                    instance.lastFailure());
        }
    }

    /**
     * Whether a call may be in vain because it found out that its connection is dead, or one of those that have begun
     * until there is another one.
     */
    private boolean inDoubt(Instance instance, Server server, long began) {
        if (!doubtful) {
            return false;
        }
        long first = firstInVain.computeIfAbsent(List.of(instance, server), ends -> began);
        if (!network.calmSince(first - Storm.RECOVERY_NANOS)) {
            firstInVain.put(List.of(instance, server), began);
            return true;
        }
        // a server that fails once may be left alone for that
        return began <= first + troubles.replacementNanos() + Storm.RECOVERY_NANOS;
    }

    private static String places(Decision decision) {
        return decision.charges().stream()
                .map(charge -> Seam.byServer(decision, charge)
                        ? "a server"
                        : Seam.inMemory(decision, charge) ? "memory" : "nobody")
                .collect(Collectors.joining(", "));
    }
}

package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.redis.storm.World.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The callers of an instance who wait for permits in a queue: each is answered in time, and those who want the same permits
 * in their order.
 */
final class Waiters {

    private static final int MAX_WAITING = 10;

    /** No alarm is exact. */
    private static final long TOLERANCE_NANOS = 10_000_000;

    /** A caller who waits. */
    private static final class Waiter {
        private final List<Charge> charges;
        private final long beganNanos;

        /** Whether it stands in line: before, it asks whether it has to. */
        private boolean joined;

        /** Who stood in line when it came. */
        private final List<Waiter> before;

        private Waiter(List<Charge> charges, long beganNanos, List<Waiter> before) {
            this.charges = charges;
            this.beganNanos = beganNanos;
            this.before = before;
        }

        private boolean wantsOnly(Waiter other) {
            return charges.size() == 1
                    && other.charges.size() == 1
                    // who wants nothing takes nothing from others
                    && other.charges.get(0).permits() > 0
                    && charges.get(0).sameBudget(other.charges.get(0));
        }
    }

    private final World world;
    private final Setup setup;
    private final Instance instance;
    private final Books books;
    private final Shares shares;
    private final Troubles troubles;
    private final RateLimitQueue queue;
    private final List<Waiter> waiting = new ArrayList<>();

    Waiters(Callers.Scene scene, Instance instance) {
        this.world = scene.world();
        this.setup = scene.setup();
        this.books = scene.books();
        this.shares = scene.shares();
        this.troubles = scene.troubles();
        this.instance = instance;
        Place place = instance.place();
        RateLimitQueue.Builder builder =
                RateLimitQueue.builder(new Watched()).ticker(place).scheduler(place);
        for (int i = 0; i < setup.policies().size(); i++) {
            long nanos = setup.policies().get(i).waitNanos();
            if (nanos > 0) {
                builder.policy("p" + i, RateLimitQueue.Waiting.of(Duration.ofNanos(nanos), MAX_WAITING));
            }
        }
        this.queue = builder.build();
    }

    /** The store as the queue sees it. */
    private final class Watched implements RateLimitStore {

        @Override
        public Decision decide(List<Charge> charges) {
            Decision decision = ask(charges, true);
            books.refused(decision);
            return decision;
        }

        @Override
        public Decision peek(List<Charge> charges) {
            return ask(charges, false);
        }

        private Decision ask(List<Charge> charges, boolean charging) {
            long began = world.now();
            instance.begins();
            try {
                Decision decision = charging
                        ? instance.store().decide(charges)
                        : instance.store().peek(charges);
                if (charging) {
                    books.granted(instance.place(), decision, began);
                }
                shares.answered(instance.place(), decision, charging, began);
                instance.answered(decision, began);
                return decision;
            } finally {
                instance.ends();
            }
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            ToLongFunction<Charge> permits = charge -> part.stream()
                    .filter(charge::sameBudget)
                    .mapToLong(Charge::permits)
                    .sum();
            books.returned(decision, permits);
            shares.returned(instance.place(), decision, permits);
            instance.store().refund(decision, part);
            decision.charges().forEach(instance::returned);
        }

        @Override
        public boolean reset(Policy policy, String key) {
            throw new UnsupportedOperationException("a queue resets nothing");
        }
    }

    /** Takes charges, now or later. */
    @SuppressWarnings("FutureReturnValueIgnored") // the check of the answer does not fail
    CompletableFuture<Decision> acquire(List<Charge> charges) {
        List<Waiter> before = waiting.stream().filter(other -> other.joined).toList();
        Waiter waiter = new Waiter(charges, world.now(), before);
        long stoodStill = troubles.stoodStill(instance.place());
        waiting.add(waiter);
        CompletableFuture<Decision> answer = queue.acquire(charges.toArray(new Charge[0]));
        waiter.joined = true;
        answer.whenComplete((decision, failure) -> answered(waiter, decision, failure, stoodStill));
        return answer;
    }

    private void answered(Waiter waiter, @Nullable Decision decision, @Nullable Throwable failure, long stoodStill) {
        waiting.remove(waiter);
        long took = world.now() - waiter.beganNanos;
        long longest = longestWaitNanos(waiter);
        world.require(
                // whoever joins a line asks again for as long as others join it
                took <= longest + TOLERANCE_NANOS + (3 + MAX_WAITING) * (setup.deadlineNanos() + Storm.WAKE_NANOS)
                        || troubles.stoodStill(instance.place()) > stoodStill,
                "%s: who waits for %s is answered after %.3f s",
                instance.place(),
                waiter.charges,
                took / 1e9);
        boolean closed = failure instanceof StoreUnavailableException unavailable
                && setup.onFailure(unavailable.policy()) == OnStoreFailure.DENY;
        world.require(
                failure == null || failure instanceof CancellationException || closed,
                "%s: who waits for %s gets %s",
                instance.place(),
                waiter.charges,
                failure instanceof CompletionException ? failure.getCause() : failure);
        if (decision != null && decision.admitted()) {
            requireTurn(waiter);
        }
    }

    private long longestWaitNanos(Waiter waiter) {
        return waiter.charges.stream()
                .mapToLong(charge -> setup.terms(charge.policy().name()).waitNanos())
                .max()
                .orElse(0);
    }

    /** Nobody overtakes those who stood in line for the same permits when it came. */
    private void requireTurn(Waiter admitted) {
        for (Waiter other : waiting) {
            world.require(
                    !other.wantsOnly(admitted)
                            || !admitted.before.contains(other)
                            // it is being refused
                            || world.now() - other.beganNanos > longestWaitNanos(other),
                    "%s: who waits for %s since %.3f s is overtaken",
                    instance.place(),
                    other.charges,
                    other.beganNanos / 1e9);
        }
    }

    int waiting() {
        return waiting.size();
    }

    /** Refuses all who wait. */
    void close() {
        queue.close();
    }
}

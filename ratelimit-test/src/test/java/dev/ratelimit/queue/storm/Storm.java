package dev.ratelimit.queue.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.storm.History.Waited;
import dev.ratelimit.queue.storm.Step.Kind;
import dev.ratelimit.queue.storm.Step.Want;
import dev.ratelimit.storm.Timeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of a history. Wherever the queue calls foreign code, it may have to wait for another thread, which does the
 * next steps meanwhile.
 */
final class Storm {

    /** How many threads wait for the next one at most. */
    private static final int MOST_THREADS = 3;

    /** Longer than any step takes. */
    private static final long STUCK_MILLIS = 20_000;

    private final History history;
    private final Random random;
    private final Deque<Step> steps;
    private final Timeline timeline;
    private final World world;
    private final RateLimitStore store;
    private final RateLimitQueue queue;
    private final Model model;
    private final Judge judge;

    /** What was charged to those who may return it. */
    private final List<Decision> held = new ArrayList<>();

    /** How many steps are being done. */
    private int depth;

    /** Whether no time passes, apart from readings of the clock. */
    private boolean timeStands;

    private int foreignCalls;
    private @Nullable Throwable failure;

    private Storm(History history, Timeline timeline) {
        this.history = history;
        this.random = new Random(history.order());
        this.steps = new ArrayDeque<>(history.steps());
        this.timeline = timeline;
        this.world = new World(history.setup().tickNanos(), random, this::foreign);
        this.store = InMemoryStore.builder()
                .ticker(world.clockOfStore())
                .scheduler((task, delay) -> () -> {})
                .build();
        RateLimitQueue.Builder builder =
                RateLimitQueue.builder(new Asked(store)).ticker(new Clock()).scheduler(world);
        for (Waited waited : history.setup().policies()) {
            if (waited.waiting() != null) {
                builder.policy(waited.policy().name(), waited.waiting());
            }
        }
        this.queue = builder.build();
        this.model = new Model(history.setup(), store, queue, world);
        this.judge = new Judge(model, store, queue, world);
    }

    /** Runs a history. Returns what is wrong; {@code null} if nothing is. */
    static @Nullable Throwable run(History history, Timeline timeline) {
        Storm storm = new Storm(history, timeline);
        storm.inAnotherThread(storm::runAll);
        return storm.failure;
    }

    private void runAll() {
        while (!steps.isEmpty()) {
            Step step = steps.removeFirst();
            act(step);
            if (history.setup().prompt()) {
                world.run();
            }
            if (history.setup().prompt() || step.kind() == Kind.RUN) {
                judge.rest();
            }
        }
        world.run();
        judge.rest();
        for (int i = 0; judge.anybodyWaits(); i++) {
            if (world.alarms() == 0 || i > 1_000) {
                throw new AssertionError("somebody waits for ever");
            }
            world.advanceToAlarm();
            judge.rest();
        }
        judge.end();
    }

    /** Runs something in another thread, for which this one waits. */
    private void inAnotherThread(Runnable action) {
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (Throwable e) {
                fail(e);
            }
        });
        thread.setUncaughtExceptionHandler((ignored, e) -> hear(e));
        thread.start();
        try {
            thread.join(STUCK_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (thread.isAlive()) {
            fail(new AssertionError("another thread is blocked while foreign code is called"));
        }
    }

    private void fail(Throwable e) {
        failure = failure == null ? e : failure;
    }

    /** What the queue tells nobody: failures of foreign code that concern no caller, and what a check of ours throws there. */
    private void hear(Throwable e) {
        say(() -> "reported: " + e);
        if (e instanceof AssertionError) {
            fail(e);
        }
    }

    /** Foreign code is called: it may fail, and others may do something before it returns. */
    private void foreign(String what) {
        foreignCalls++;
        if (foreignCalls == history.setup().fault()) {
            say(() -> "fails: " + what);
            model.fails();
            judge.fails();
            throw new IllegalStateException("fault of " + what);
        }
        meanwhile(what);
    }

    /** Others may do something. An answer of the store is not old when it comes: it would count from then on. */
    private void meanwhile(String what) {
        boolean stood = timeStands;
        timeStands |= model.isListening();
        while (!judge.isJudging()
                && depth < MOST_THREADS
                && !steps.isEmpty()
                && !(timeStands && steps.getFirst().kind().takesTime())
                && failure == null
                && random.nextInt(history.setup().oneIn()) == 0) {
            say(() -> "meanwhile, at " + what);
            Step step = steps.removeFirst();
            model.meanwhile(() -> inAnotherThread(() -> act(step)));
        }
        timeStands = stood;
    }

    private void say(Supplier<String> what) {
        timeline.note(() -> "%15d %s%s".formatted(world.now(), "  ".repeat(depth), what.get()));
    }

    private void act(Step step) {
        say(step::toString);
        depth++;
        try {
            switch (step.kind()) {
                case ACQUIRE -> acquire(step);
                case CANCEL -> cancel(step);
                case RELEASE -> release(step);
                case TAKE -> hold(store.decide(charges(step)));
                case RESET -> reset(charges(step).get(0));
                case WAKE -> queue.wake(charges(step).get(0).policy().name());
                case ADVANCE -> world.advance(step.number());
                case PAUSE -> world.pause(step.number());
                case RUN -> world.run();
                case CLOSE -> {
                    model.closes();
                    queue.close();
                }
            }
        } finally {
            depth--;
        }
    }

    private List<Charge> charges(Step step) {
        List<Charge> charges = new ArrayList<>();
        for (Want want : step.wants()) {
            Policy policy = history.setup().policies().get(want.policy()).policy();
            charges.add(policy.charge(want.key(), want.permits()));
        }
        return charges;
    }

    private void hold(Decision decision) {
        if (decision.admitted()) {
            held.add(decision);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // its dependents are what others do
    private void acquire(Step step) {
        Caller caller = model.comes(step.id(), charges(step));
        CompletableFuture<Decision> result = queue.acquire(caller.charges, () -> ask(caller));
        caller.gets(result);
        model.joined(caller);
        boolean atOnce = result.isDone();
        say(() -> caller + (atOnce ? " has its answer" : " waits"));
        result.whenComplete((decision, e) -> {
            if (!atOnce) {
                model.answered(caller);
            }
            say(() -> caller + " gets " + (e == null ? decision : e));
            if (e == null) {
                hold(decision);
            }
            meanwhile("a dependent of " + caller);
        });
    }

    private Decision ask(Caller caller) {
        model.asks(caller);
        foreign("the store for " + caller);
        Decision decision = store.decide(caller.charges);
        say(() -> caller + " hears " + decision);
        judge.charges(decision);
        model.hears(caller, decision);
        meanwhile("the store's answer to " + caller);
        return decision;
    }

    private void cancel(Step step) {
        List<Caller> waiting = model.waiting();
        if (!waiting.isEmpty()) {
            Caller caller = waiting.get((int) (step.number() % waiting.size()));
            say(() -> caller + " leaves");
            caller.result().cancel(false);
        }
    }

    private void release(Step step) {
        if (!held.isEmpty()) {
            Decision decision = held.remove((int) (step.number() % held.size()));
            model.improves();
            store.refund(decision);
            say(() -> "returned: " + decision.charges());
            decision.charges().forEach(charge -> queue.wake(charge.policy(), charge.key()));
        }
    }

    private void reset(Charge budget) {
        model.improves();
        store.reset(budget.policy(), budget.key());
        queue.wake(budget.policy(), budget.key());
    }

    /** The clock as the queue reads it. */
    private final class Clock implements Ticker {
        @Override
        public long nanos() {
            long now = world.nanos();
            model.reads(now);
            return now;
        }

        @Override
        public long epochNanos() {
            return nanos();
        }
    }

    /** The store as the queue asks it for itself. */
    private final class Asked extends ForwardingStore {

        Asked(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision peek(List<Charge> charges) {
            foreign("the store's look");
            Decision decision = super.peek(charges);
            model.looks(charges, decision);
            meanwhile("what the store sees");
            return decision;
        }

        @Override
        public void refund(Decision decision) {
            model.improves();
            judge.givesBack(decision);
            foreign("the store's refund");
            super.refund(decision);
        }
    }
}

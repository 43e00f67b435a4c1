package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that answers when a test says so, at once or exceptionally, and that must not be asked to block, except by tasks
 * of the executor for such calls, which also run when the test says so.
 */
final class LateStore extends ForwardingStore implements Scheduler {

    /** A call that has not been answered. */
    private record Call<T extends @Nullable Object>(String name, Supplier<T> call, CompletableFuture<T> result) {

        void answer() {
            result.complete(call.get());
        }
    }

    private final Scheduler alarms;
    private final List<Call<?>> open = new ArrayList<>();
    private final Deque<Runnable> blocking = new ArrayDeque<>();
    private final List<String> refunds = new ArrayList<>();
    private boolean late = true;
    private boolean mayBlock;
    private Runnable onDecide = () -> {};

    LateStore(RateLimitStore store, Scheduler alarms) {
        super(store);
        this.alarms = alarms;
    }

    /** Answers at once from now on, or not. */
    void answerAtOnce(boolean atOnce) {
        late = !atOnce;
    }

    /** Runs something whenever a decision is asked for. */
    void onDecide(Runnable task) {
        onDecide = task;
    }

    /** The names of the calls that have not been answered. */
    List<String> open() {
        return open.stream().map(Call::name).toList();
    }

    /** What was refunded, as {@code policy permits}. */
    List<String> refunds() {
        return refunds;
    }

    /** Answers the first call. */
    void answer() {
        answer(0);
    }

    void answer(int index) {
        open.remove(index).answer();
    }

    void answerAll() {
        while (!open.isEmpty()) {
            answer();
        }
    }

    void fail(int index, RuntimeException failure) {
        open.remove(index).result().completeExceptionally(failure);
    }

    /** Answers the first call with nothing, as no store may. */
    @SuppressWarnings("NullAway") // the mistake of a store
    void answerNothing() {
        open.remove(0).result().complete(null);
    }

    /** Runs the tasks that may block; returns whether there were any. */
    boolean runBlocking() {
        boolean any = !blocking.isEmpty();
        while (!blocking.isEmpty()) {
            blocking(blocking.remove());
        }
        return any;
    }

    /** Runs something on a thread that may block. */
    void blocking(Runnable task) {
        mayBlock = true;
        try {
            task.run();
        } finally {
            mayBlock = false;
        }
    }

    @Override
    public Decision decide(List<Charge> charges) {
        assertThat(mayBlock).as("may block").isTrue();
        onDecide.run();
        return super.decide(charges);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        assertThat(mayBlock).as("may block").isTrue();
        return super.peek(charges);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        assertThat(mayBlock).as("may block").isTrue();
        note(part);
        super.refund(decision, part);
    }

    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        onDecide.run();
        return call("decide", () -> store().decide(charges));
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return call("peek", () -> store().peek(charges));
    }

    @Override
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        note(part);
        return this.<@Nullable Void>call("refund", () -> {
            store().refund(decision, part);
            return null;
        });
    }

    private void note(List<Charge> part) {
        part.forEach(charge -> refunds.add(charge.policy().name() + " " + charge.permits()));
    }

    private <T extends @Nullable Object> CompletableFuture<T> call(String name, Supplier<T> call) {
        Call<T> made = new Call<>(name, call, new CompletableFuture<>());
        if (late) {
            open.add(made);
        } else {
            made.answer();
        }
        return made.result();
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        return alarms.schedule(() -> blocking(task), delayNanos);
    }

    @Override
    public Executor executor() {
        return this::blocking;
    }

    @Override
    public Executor blockingExecutor() {
        return blocking::add;
    }
}

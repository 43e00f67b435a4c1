package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends charges to one slot over one connection: those that arrive while enough commands are under way leave together
 * in the next one, as soon as one of those has returned or the next is full. So a busy server reads the clock, enters a
 * script, and reads and writes a shared key once for many charges, nobody waits for a command to fill, and a server far
 * away decides as many at once as {@code max-in-flight} permits. Each charge is decided by itself. Thread-safe and
 * lock-free.
 */
final class Combiner {

    /** While one command is decided, the next is already on its way; beyond, only full ones leave. */
    private static final int MAX_UNDER_WAY = 2;

    /** The maximum number of charges in a command. */
    private static final int MAX_CHARGES = 32;

    /** After this many limits, a command takes no more charges: other commands wait for it. */
    private static final int MANY_LIMITS = 128;

    private record Waiting(PendingBatch sent, CompletableFuture<Answer> answer) {}

    private final Connection connection;
    private final ScriptExecutor executor;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger length = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();

    Combiner(Connection connection, ScriptExecutor executor) {
        this.connection = connection;
        this.executor = executor;
    }

    boolean uses(Connection other) {
        return connection == other;
    }

    /** The answer to a charge; a failure may concern another charge in the same command. */
    CompletableFuture<Answer> charge(PendingBatch sent) {
        Waiting last = new Waiting(sent, new CompletableFuture<>());
        // counted first: the count is never too low for those that wait
        length.incrementAndGet();
        waiting.add(last);
        depart();
        return last.answer;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // failures are told to the callers
    private void depart() {
        // who finds too many under way leaves it to the first that arrives
        while (!waiting.isEmpty() && enter()) {
            List<Waiting> together = new ArrayList<>();
            CompletableFuture<List<Answer>> answers = send(together);
            if (answers.isDone()) {
                // a connection that fails at once: here, as many callers may wait, and not in a recursion
                underWay.decrementAndGet();
                answers.whenComplete((all, failure) -> tell(together, all, failure));
            } else {
                answers.whenComplete((all, failure) -> {
                    underWay.decrementAndGet();
                    depart();
                    tell(together, all, failure);
                });
            }
        }
    }

    private boolean enter() {
        int count = underWay.get();
        while (count < MAX_UNDER_WAY || length.get() >= MAX_CHARGES) {
            if (underWay.compareAndSet(count, count + 1)) {
                return true;
            }
            count = underWay.get();
        }
        return false;
    }

    /** Sends the first that wait, which are added to this list. */
    private CompletableFuture<List<Answer>> send(List<Waiting> together) {
        try {
            takeTo(together);
            List<Batch> batches = new ArrayList<>(together.size());
            together.forEach(each -> batches.add(each.sent.batch()));
            return batches.isEmpty()
                    ? CompletableFuture.completedFuture(List.of())
                    : executor.charge(
                            connection, batches, () -> together.stream().allMatch(each -> each.sent.isWanted()));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void takeTo(List<Waiting> together) {
        int limits = 0;
        while (together.size() < MAX_CHARGES && limits < MANY_LIMITS) {
            Waiting first = waiting.poll();
            if (first == null) {
                break;
            }
            length.decrementAndGet();
            try {
                // a charge that nobody waits for any more would only use up permits
                first.sent.requireWanted();
                together.add(first);
                limits += first.sent.batch().entries().size();
            } catch (StoreFailure unwanted) {
                first.answer.completeExceptionally(unwanted);
            }
        }
    }

    private static void tell(List<Waiting> together, @Nullable List<Answer> answers, @Nullable Throwable failure) {
        for (int i = 0; i < together.size(); i++) {
            if (answers != null) {
                together.get(i).answer.complete(answers.get(i));
            } else {
                together.get(i).answer.completeExceptionally(failure == null ? Answer.noAnswer() : failure);
            }
        }
    }
}

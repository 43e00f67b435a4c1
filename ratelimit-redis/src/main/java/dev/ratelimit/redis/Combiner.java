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
 * in the next one. So a busy server reads the clock, enters a script, and reads and writes a shared key once for many
 * charges, and nobody waits for a command to fill. Each charge is decided by itself. Thread-safe and lock-free.
 */
final class Combiner {

    /** While one command is decided, the next is already on its way. */
    private static final int MAX_UNDER_WAY = 2;

    /** The maximum number of charges in a command. */
    private static final int MAX_CHARGES = 32;

    /** After this many limits, a command takes no more charges: other commands wait for it. */
    private static final int MANY_LIMITS = 128;

    private record Waiting(PendingBatch sent, CompletableFuture<Answer> answer) {}

    private final Connection connection;
    private final ScriptExecutor executor;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
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
        waiting.add(last);
        depart();
        return last.answer;
    }

    private void depart() {
        // who finds too many under way leaves it to the first that arrives
        while (!waiting.isEmpty() && enter()) {
            List<Waiting> together = next();
            if (together.isEmpty()) {
                underWay.decrementAndGet();
            } else {
                send(together);
            }
        }
    }

    private boolean enter() {
        int count = underWay.get();
        while (count < MAX_UNDER_WAY) {
            if (underWay.compareAndSet(count, count + 1)) {
                return true;
            }
            count = underWay.get();
        }
        return false;
    }

    private List<Waiting> next() {
        List<Waiting> together = new ArrayList<>();
        int limits = 0;
        while (together.size() < MAX_CHARGES && limits < MANY_LIMITS) {
            Waiting first = waiting.poll();
            if (first == null) {
                break;
            }
            try {
                // a charge that nobody waits for any more would only use up permits
                first.sent.requireWanted();
                together.add(first);
                limits += first.sent.batch().entries().size();
            } catch (StoreFailure unwanted) {
                first.answer.completeExceptionally(unwanted);
            }
        }
        return together;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // arrived() handles failures
    private void send(List<Waiting> together) {
        try {
            List<Batch> batches = new ArrayList<>(together.size());
            together.forEach(each -> batches.add(each.sent.batch()));
            executor.charge(connection, batches, () -> together.stream().allMatch(each -> each.sent.isWanted()))
                    .whenComplete((answers, failure) -> arrived(together, answers, failure));
        } catch (RuntimeException | Error e) {
            arrived(together, null, e);
        }
    }

    private void arrived(List<Waiting> together, @Nullable List<Answer> answers, @Nullable Throwable failure) {
        underWay.decrementAndGet();
        depart();
        for (int i = 0; i < together.size(); i++) {
            if (answers != null) {
                together.get(i).answer.complete(answers.get(i));
            } else {
                together.get(i).answer.completeExceptionally(failure == null ? Answer.noAnswer() : failure);
            }
        }
    }
}

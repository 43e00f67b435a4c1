package dev.ratelimit.redis;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.redis.Letter.Way;
import dev.ratelimit.remote.StoreFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends charges to one slot over one connection: those that have arrived when the connection gets to write go together in
 * one command. So a busy instance enters a script, reads the clock, and reads and writes a shared key once for many charges,
 * and nobody waits for a command to fill or for another one's reply. Each charge is decided by itself. Thread-safe and
 * lock-free.
 */
final class Combiner {

    /** The maximum number of charges in a command: other commands wait for it. */
    private static final int MAX_CHARGES = 32;

    /** A charge of more limits goes alone, for the same reason. */
    private static final int MAX_LIMITS = 8;

    private record Waiting(PendingBatch sent, CompletableFuture<Reply> reply) {}

    private final Way way;
    private final ScriptExecutor executor;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();

    /** The charges that wait and that no departure has claimed; one departure for each 32 of them is on its way. */
    private final AtomicInteger unclaimed = new AtomicInteger();

    /** How many charges have found since the last departure that one is overdue. */
    private final AtomicInteger overdue = new AtomicInteger();

    Combiner(Way way, ScriptExecutor executor) {
        this.way = way;
        this.executor = executor;
    }

    boolean uses(Connection other) {
        return way.connection() == other;
    }

    /** The reply to a charge; a failure may concern another charge in the same command. */
    CompletableFuture<Reply> charge(PendingBatch sent) {
        if (sent.batch().entries().size() > MAX_LIMITS) {
            return executor.charge(way, () -> sent.isWanted() ? sent.written() : List.of(), sent::isWanted)
                    .thenApply(replies -> replies.get(0));
        }
        Waiting last = new Waiting(sent, new CompletableFuture<>());
        boolean again = isLost(waiting.peek());
        // counted last: whoever claims it finds it, or one that came earlier
        waiting.add(last);
        if (unclaimed.getAndIncrement() % MAX_CHARGES == 0 || again) {
            new Departure().post();
        }
        return last.reply;
    }

    /**
     * Whether another departure is needed. If the caller of the oldest charge has left, its departure may have got lost: a
     * thread that has neither stack nor memory left loses it on any line. Or the connection only writes late: then these are
     * as few as the others.
     */
    private boolean isLost(@Nullable Waiting oldest) {
        return oldest != null && !oldest.sent.isWanted() && overdue.getAndIncrement() % MAX_CHARGES == 0;
    }

    /** A command on its way: it takes what waits at the moment when it is written, or fails in place of that. */
    private final class Departure {

        private final AtomicBoolean gone = new AtomicBoolean();

        /** Filled by the first call of {@code take}: the connection writes a command, or fails it, before it tells anybody. */
        private final List<Waiting> together = new ArrayList<>();

        @SuppressWarnings("FutureReturnValueIgnored") // failures are told to the callers
        void post() {
            CompletableFuture<List<Reply>> replies;
            try {
                replies = executor.charge(way, this::batches, this::areWanted);
            } catch (RuntimeException | Error e) {
                replies = CompletableFuture.failedFuture(e);
            }
            replies.whenComplete((all, failure) -> {
                // unless it was written
                take();
                complete(all, failure);
            });
        }

        /** What leaves now. */
        private List<Batch> batches() {
            if (!take()) {
                // it has failed in place of that: nobody would learn what is decided now
                return List.of();
            }
            List<Batch> batches = new ArrayList<>(together.size());
            together.forEach(each -> batches.addAll(each.sent.written()));
            return batches;
        }

        private boolean areWanted() {
            return together.stream().allMatch(each -> each.sent.isWanted());
        }

        /** Takes what waits, also what could not be counted. Returns whether this was the first call. */
        @CanIgnoreReturnValue
        private boolean take() {
            if (!gone.compareAndSet(false, true)) {
                return false;
            }
            overdue.set(0);
            unclaimed.getAndUpdate(count -> count - Math.min(MAX_CHARGES, count));
            while (together.size() < MAX_CHARGES) {
                Waiting first = waiting.poll();
                if (first == null) {
                    break;
                }
                try {
                    // a charge that nobody waits for any more would only use up permits
                    first.sent.requireWanted();
                    together.add(first);
                } catch (StoreFailure unwanted) {
                    first.reply.completeExceptionally(unwanted);
                }
            }
            return true;
        }

        private void complete(@Nullable List<Reply> replies, @Nullable Throwable failure) {
            for (int i = 0; i < together.size(); i++) {
                if (replies != null) {
                    together.get(i).reply.complete(replies.get(i));
                } else {
                    together.get(i).reply.completeExceptionally(failure == null ? Reply.unexpected() : failure);
                }
            }
        }
    }
}

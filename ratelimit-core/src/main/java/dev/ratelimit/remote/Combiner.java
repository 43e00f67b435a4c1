package dev.ratelimit.remote;

import dev.ratelimit.CanIgnoreReturnValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends charges by one way to a server: those that have arrived when the carrier gets to write go together in one command. So a
 * busy instance has the server begin, read the clock, and read and write a shared key once for many charges, and nobody waits
 * for a command to fill or for another one's answer. Each charge is decided by itself. Thread-safe and lock-free.
 *
 * @param <Q> what a server is asked for one request
 * @param <A> what it answers
 */
public final class Combiner<Q, A> {

    /**
     * Carries commands to a server.
     *
     * @param <Q> what a server is asked for one request
     * @param <A> what it answers
     */
    public interface Carrier<Q, A> {

        /**
         * Carries what waits when the command is written. Does not block.
         *
         * @param questions to be called once, when the command is written; if they are none, nothing is to be asked
         * @param areWanted whether all whom they concern still wait for the answers
         * @return an answer to each question, in their order, or a failure of all
         */
        CompletableFuture<List<A>> carry(Supplier<List<Q>> questions, BooleanSupplier areWanted);
    }

    /** The maximum number of charges in a command: other commands wait for it. */
    private static final int MAX_CHARGES = 32;

    private record Waiting<Q, A>(Request request, Q question, CompletableFuture<A> answer) {}

    private final Carrier<Q, A> carrier;
    private final Queue<Waiting<Q, A>> waiting = new ConcurrentLinkedQueue<>();

    /** The charges that wait and that no departure has claimed; one departure for each 32 of them is on its way. */
    private final AtomicInteger unclaimed = new AtomicInteger();

    /** How many charges have found since the last departure that one is overdue. */
    private final AtomicInteger overdue = new AtomicInteger();

    /**
     * Creates a combiner for which nobody waits.
     *
     * @param carrier of its commands
     */
    public Combiner(Carrier<Q, A> carrier) {
        this.carrier = carrier;
    }

    /**
     * Sends a charge with others.
     *
     * @param request that waits for the answer
     * @param question what to ask the server
     * @return the answer; a failure may concern another charge in the same command
     */
    public CompletableFuture<A> charge(Request request, Q question) {
        Waiting<Q, A> last = new Waiting<>(request, question, new CompletableFuture<>());
        boolean again = isLost(waiting.peek());
        // counted last: whoever claims it finds it, or one that came earlier
        waiting.add(last);
        if (unclaimed.getAndIncrement() % MAX_CHARGES == 0 || again) {
            new Departure().post();
        }
        return last.answer;
    }

    /**
     * Whether another departure is needed. If the caller of the oldest charge has left, its departure may have got lost: a
     * thread that has neither stack nor memory left loses it on any line. Or the carrier only writes late: then these are
     * as few as the others.
     */
    private boolean isLost(@Nullable Waiting<Q, A> oldest) {
        return oldest != null && !oldest.request.isWanted() && overdue.getAndIncrement() % MAX_CHARGES == 0;
    }

    /** A command on its way: it takes what waits at the moment when it is written, or fails in place of that. */
    private final class Departure {

        private final AtomicBoolean gone = new AtomicBoolean();

        /** Filled by the first call of {@code take}: the carrier writes a command, or fails it, before it tells anybody. */
        private final List<Waiting<Q, A>> together = new ArrayList<>();

        @SuppressWarnings("FutureReturnValueIgnored") // failures are told to the callers
        void post() {
            CompletableFuture<List<A>> answers;
            try {
                answers = carrier.carry(this::questions, this::areWanted);
            } catch (RuntimeException | Error e) {
                answers = CompletableFuture.failedFuture(e);
            }
            answers.whenComplete((all, failure) -> {
                // unless it was written
                take();
                complete(all, failure);
            });
        }

        /** What leaves now. */
        private List<Q> questions() {
            if (!take()) {
                // it has failed in place of that: nobody would learn what is decided now
                return List.of();
            }
            List<Q> questions = new ArrayList<>(together.size());
            together.forEach(each -> {
                each.request.written();
                questions.add(each.question);
            });
            return questions;
        }

        private boolean areWanted() {
            return together.stream().allMatch(each -> each.request.isWanted());
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
                Waiting<Q, A> first = waiting.poll();
                if (first == null) {
                    break;
                }
                try {
                    // a charge that nobody waits for any more would only use up permits
                    first.request.requireWanted();
                    together.add(first);
                } catch (StoreFailure unwanted) {
                    first.answer.completeExceptionally(unwanted);
                }
            }
            return true;
        }

        private void complete(List<A> answers, @Nullable Throwable failure) {
            for (int i = 0; i < together.size(); i++) {
                if (failure == null) {
                    together.get(i).answer.complete(answers.get(i));
                } else {
                    together.get(i).answer.completeExceptionally(failure);
                }
            }
        }
    }
}

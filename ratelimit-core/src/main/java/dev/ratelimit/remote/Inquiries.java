package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.remote.Request.Waited;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asks servers for decisions until the deadline, and lets policies decide what no server has answered. The calling thread
 * waits or not; all else is the same. Thread-safe.
 */
final class Inquiries {

    /** More than an expiry is rounded up by. */
    private static final long EXPIRY_ROUNDING_NANOS = 20_000_000;

    private final Sender sender;
    private final OwedRefunds owed;
    private final LocalDecider local;
    private final StatusCache statusCache;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final RemoteStoreListener listener;
    private final long deadlineNanos;

    /** After this time, no server executes a charge any more. */
    private final long voidAfterNanos;

    Inquiries(
            Sender sender,
            OwedRefunds owed,
            LocalDecider local,
            StatusCache statusCache,
            RemoteStoreSettings settings) {
        this.sender = sender;
        this.owed = owed;
        this.local = local;
        this.statusCache = statusCache;
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.listener = settings.listener;
        this.deadlineNanos = settings.deadlineNanos();
        this.voidAfterNanos = 2 * Math.min(deadlineNanos, Long.MAX_VALUE / 4) + EXPIRY_ROUNDING_NANOS;
    }

    /**
     * Asks, and waits on the calling thread.
     *
     * @throws StoreUnavailableException if a policy that fails closed cannot be decided
     */
    Decision ask(List<Charge> charges, Operation operation) {
        Inquiry inquiry = new Inquiry(charges, operation);
        try {
            inquiry.send();
            inquiry.hear(sent -> sent.await(inquiry.leftNanos()));
            inquiry.correct(question -> question.get(inquiry.leftNanos()));
            return inquiry.decision();
        } catch (RuntimeException | Error e) {
            inquiry.abandon(e);
            throw e;
        }
    }

    /**
     * Asks without waiting.
     *
     * @return completed on the thread of the last answer or of the deadline's alarm, which others depend on; with a
     *     {@link StoreUnavailableException} if a policy that fails closed cannot be decided
     */
    CompletableFuture<Decision> askAsync(List<Charge> charges, Operation operation) {
        return new Inquiry(charges, operation).result();
    }

    /** A decision that servers are asked for. Used by one thread at a time. */
    private final class Inquiry {

        private final List<Charge> charges;
        private final PendingDecision pending;
        private final Operation operation;
        private final long deadline;
        private final long asked;
        private final List<Request> sent = new ArrayList<>(1);

        /** What nobody would get, should this fail on its way; {@code null} while it is being sent. */
        private @Nullable List<Request> open;

        /** About the state of what was given back. */
        private final List<Request> questions = new ArrayList<>(0);

        Inquiry(List<Charge> charges, Operation operation) {
            this.charges = charges;
            this.pending = new PendingDecision(charges);
            this.operation = operation;
            this.deadline = ticker.nanos() + deadlineNanos;
            this.asked = statusCache.now();
        }

        void send() {
            sender.send(charges, operation, sent);
            open = new ArrayList<>(open());
        }

        private List<Request> open() {
            return open == null ? operation == Operation.CHARGE ? sent : List.of() : open;
        }

        long leftNanos() {
            return deadline - ticker.nanos();
        }

        CompletableFuture<Decision> result() {
            CompletableFuture<Decision> result = new CompletableFuture<>();
            try {
                send();
                whenOver(sent, result, waited -> {
                    hear(request -> request.awaited(waited));
                    if (questions.isEmpty()) {
                        result.complete(decision());
                    } else {
                        whenOver(questions, result, longer -> {
                            correct(question -> question.got(longer));
                            result.complete(decision());
                        });
                    }
                });
            } catch (Throwable e) {
                fail(result, e);
            }
            return result;
        }

        /** Goes on once these have an answer, or at the deadline. */
        @SuppressWarnings("FutureReturnValueIgnored") // what follows handles its own failures
        private void whenOver(List<Request> requests, CompletableFuture<Decision> result, Consumer<Waited> then) {
            Timeout.await(scheduler, Request.all(requests), leftNanos()).whenComplete((nothing, failure) -> {
                try {
                    then.accept(Waited.until(deadlineNanos - leftNanos(), deadlineNanos, failure));
                } catch (Throwable e) {
                    fail(result, e);
                }
            });
        }

        private void fail(CompletableFuture<Decision> result, Throwable reason) {
            try {
                abandon(reason);
            } finally {
                result.completeExceptionally(reason);
            }
        }

        /** Takes the answers, and decides what no server has answered. */
        void hear(Function<Request, Answer> answer) {
            for (Request one : sent) {
                try {
                    pending.answered(one, answer.apply(one));
                } catch (StoreFailure e) {
                    listener.failed(e.reason());
                    pending.unanswered(one, e);
                    if (open().contains(one)) {
                        undo(one);
                        open().remove(one);
                    }
                }
            }
            StoreFailure failure = pending.failure();
            if (failure != null) {
                local.denyIfChosen(pending.unanswered(), failure);
                local.decide(pending, pending.admitted() && operation == Operation.CHARGE);
            }
            if (!pending.admitted()) {
                giveBack();
            }
        }

        /**
         * Refunds what servers admitted if another one refused, and asks for the state afterwards if time is left: a
         * server that hangs may have used up the deadline.
         */
        private void giveBack() {
            for (Request charged : pending.charged()) {
                if (open().remove(charged)) {
                    refund(charged, charged.answer());
                    if (leftNanos() > 0) {
                        questions.addAll(sender.post(charged.charges(), Operation.PEEK));
                    }
                }
            }
        }

        private void refund(Request charged, Answer answer) {
            Stamp stamp = new Stamp(answer.nowMicros(), charged.stamp().id());
            owed.post(charged.charges(), stamp).forEach(each -> each.tellFailure(listener));
        }

        /** Takes the answers to the questions. */
        void correct(Function<Request, Answer> answer) {
            for (Request question : questions) {
                try {
                    pending.corrected(question, answer.apply(question));
                } catch (StoreFailure e) {
                    listener.failed(e.reason());
                }
            }
        }

        /** A decision stands, whether or not anything is learnt from it: there may be no stack or memory for that. */
        Decision decision() {
            Decision decision = pending.decision(operation == Operation.CHARGE);
            try {
                pending.remember(statusCache, asked, operation == Operation.CHARGE);
            } catch (RuntimeException | Error e) {
                // the next call asks the server
            }
            return decision;
        }

        /** There will be no decision, and nobody who holds what was charged. */
        void abandon(Throwable reason) {
            sent.forEach(each -> each.giveUp(reason));
            open().forEach(this::undo);
        }

        /** Gives back, sooner or later, what a server charges or may have charged for a caller who has left without its answer. */
        private void undo(Request left) {
            long voidNanos = ticker.nanos() + voidAfterNanos;
            left.then((late, failure) -> {
                if (failure == null && late.admitted()) {
                    refund(left, late);
                } else if (failure != null
                        && left.mayBeExecuted()
                        && !StoreFailure.of(failure).executedNothing()) {
                    left.charges()
                            .forEach(charge -> owed.cancel(charge, left.stamp().id(), voidNanos));
                }
            });
        }
    }
}

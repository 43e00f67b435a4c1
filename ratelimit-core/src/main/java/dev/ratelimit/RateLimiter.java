package dev.ratelimit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Takes permits from a store, immediately or after waiting. Thread-safe; one per application is enough.
 *
 * <p>Every method takes one or several {@link Charge}s, of one or several policies: all of them, or none.
 *
 * <table>
 *   <caption>Which method</caption>
 *   <tr><td>{@link #tryAcquire}</td><td>yes or no, immediately</td></tr>
 *   <tr><td>{@link #decide}</td><td>yes or no, with the remaining permits and when to retry</td></tr>
 *   <tr><td>{@link #peek}</td><td>the same without taking anything</td></tr>
 *   <tr><td>{@link #decideAsync}, {@link #peekAsync}</td><td>both without blocking a thread</td></tr>
 *   <tr><td>{@link #reserve}</td><td>immediately, with a refund if needed</td></tr>
 *   <tr><td>{@link #acquire}, {@link #acquireAsync}</td><td>waits, with a refund if needed</td></tr>
 * </table>
 *
 * <p>The store may block the threads that call it, except in the methods whose names end in {@code Async}: they fit on an
 * event loop. A refusal is a value, never an exception. A method throws a {@link StoreUnavailableException} only if the store
 * cannot decide and a policy fails closed ({@link OnStoreFailure#DENY}).
 */
public final class RateLimiter {

    private static final Duration MAX_WAIT = Duration.ofNanos(Long.MAX_VALUE / 2);

    /** No alarm is exact: after one that rings this late, permits due at the deadline can still be taken. */
    private static final long TOLERANCE_NANOS = 10_000_000;

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Executor executor;

    /**
     * Creates a limiter that waits by the system's clock.
     *
     * @param store takes the charges; the limiter does not close it
     */
    public RateLimiter(RateLimitStore store) {
        this(store, Ticker.system());
    }

    /**
     * Creates a limiter whose waits use this ticker and {@linkplain Scheduler#of its scheduler}.
     *
     * @param store takes the charges, by its own time
     * @param ticker for waits only
     */
    public RateLimiter(RateLimitStore store, Ticker ticker) {
        this(store, ticker, Scheduler.of(ticker));
    }

    /**
     * Creates a limiter whose waits use this ticker and this scheduler.
     *
     * @param store takes the charges, by its own time
     * @param ticker tells when a wait is over
     * @param scheduler wakes those who wait; its {@link Scheduler#executor()} serves {@link #acquireAsync}
     */
    public RateLimiter(RateLimitStore store, Ticker ticker, Scheduler scheduler) {
        this(store, ticker, scheduler, scheduler.executor());
    }

    /**
     * Creates a limiter with an executor for {@link #acquireAsync} that replaces {@link Scheduler#executor()}.
     *
     * @param store takes the charges, by its own time
     * @param ticker tells when a wait is over
     * @param scheduler wakes those who wait
     * @param executor asks the store again, without blocking, and runs dependents of the future; provide one if these
     *     block
     */
    public RateLimiter(RateLimitStore store, Ticker ticker, Scheduler scheduler, Executor executor) {
        this.store = store;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.executor = executor;
    }

    /**
     * Takes one charge, or refuses it. Does not allocate on an in-memory store and a policy with a single limit.
     *
     * @param charge what to take; 0 permits only ask
     * @return whether the charge was taken
     */
    public boolean tryAcquire(Charge charge) {
        return store.tryCharge(charge);
    }

    /**
     * Takes one permit of this key's budget, or refuses. Like {@code tryAcquire(policy.charge(key))}, without creating
     * a charge.
     *
     * @param policy whose limits decide
     * @param key whose budget; the empty string if all callers share one
     * @return whether the permit was taken
     */
    public boolean tryAcquire(Policy policy, String key) {
        return store.tryCharge(policy, key, 1);
    }

    /**
     * Takes permits of this key's budget, or refuses. Like {@code tryAcquire(policy.charge(key, permits))}, without
     * creating a charge.
     *
     * @param policy whose limits decide
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return whether the permits were taken
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public boolean tryAcquire(Policy policy, String key, long permits) {
        return store.tryCharge(policy, key, permits);
    }

    /**
     * Takes all charges, or none.
     *
     * @param charges what to take; an empty list is admitted
     * @return whether the charges were taken
     */
    public boolean tryAcquire(List<Charge> charges) {
        return store.tryCharge(charges);
    }

    /**
     * Takes all charges, or none.
     *
     * @param charges what to take; none at all is admitted
     * @return whether the charges were taken
     */
    public boolean tryAcquire(Charge... charges) {
        return store.tryCharge(List.of(charges));
    }

    /**
     * Takes all charges, or none, and returns the status of each limit.
     *
     * @param charges what to take; 0 permits only ask
     * @return whether the charges were taken, and the status of the limits afterwards
     */
    public Decision decide(Charge... charges) {
        return store.decide(List.of(charges));
    }

    /**
     * Takes all charges, or none, and returns the status of each limit.
     *
     * @param charges what to take; 0 permits only ask
     * @return whether the charges were taken, and the status of the limits afterwards
     */
    public Decision decide(List<Charge> charges) {
        return store.decide(charges);
    }

    /**
     * Like {@link #decide}, without blocking the calling thread.
     *
     * @param charges what to take; 0 permits only ask
     * @return completed where the store completes it ({@link RateLimitStore#decideAsync}); exceptionally if the store
     *     fails. Cancelling it leaves nothing charged
     */
    public CompletableFuture<Decision> decideAsync(Charge... charges) {
        return decideAsync(List.of(charges));
    }

    /**
     * Like {@link #decide}, without blocking the calling thread.
     *
     * @param charges what to take; 0 permits only ask
     * @return completed where the store completes it ({@link RateLimitStore#decideAsync}); exceptionally if the store
     *     fails. Cancelling it leaves nothing charged
     */
    public CompletableFuture<Decision> decideAsync(List<Charge> charges) {
        return store.decideAsync(charges).toCompletableFuture();
    }

    /**
     * Like {@link #peek}, without blocking the calling thread.
     *
     * @param charges what to ask for
     * @return completed where the store completes it ({@link RateLimitStore#peekAsync}); exceptionally if the store fails
     */
    public CompletableFuture<Decision> peekAsync(List<Charge> charges) {
        return store.peekAsync(charges).toCompletableFuture();
    }

    /**
     * Returns what {@link #decide} would, without taking anything.
     *
     * @param charges what to ask for
     * @return whether the charges would be taken, and the status of the limits now
     */
    public Decision peek(List<Charge> charges) {
        return store.peek(charges);
    }

    /**
     * Returns what {@link #decide} would, without taking anything.
     *
     * @param charges what to ask for
     * @return whether the charges would be taken, and the status of the limits now
     */
    public Decision peek(Charge... charges) {
        return store.peek(List.of(charges));
    }

    /**
     * {@return the status of the policy's limits for this key, in their order} Takes nothing. A store that decides
     * without asking every limit omits some.
     *
     * @param policy whose limits
     * @param key whose budget; the empty string if all callers share one
     */
    public List<LimitStatus> inspect(Policy policy, String key) {
        return store.peek(List.of(policy.charge(key, 0))).limits();
    }

    /**
     * {@return a view of this limiter for the keys of one policy}
     *
     * @param policy whose limits decide
     */
    public PolicyLimiter forPolicy(Policy policy) {
        return new PolicyLimiter(this, policy);
    }

    /**
     * Resets the key to a full budget.
     *
     * @param policy whose limits to reset
     * @param key whose budget; the empty string if all callers share one
     * @return whether it is certain that the key was reset; {@code false} if the store's server does not answer
     */
    @CanIgnoreReturnValue
    public boolean reset(Policy policy, String key) {
        return store.reset(policy, key);
    }

    /**
     * Takes all charges, or none, so that they can later be refunded or settled at another cost.
     *
     * @param charges what to take; 0 permits only ask
     * @return what was taken, or a refused reservation
     */
    public Reservation reserve(Charge... charges) {
        return reserve(List.of(charges));
    }

    /**
     * Waits at most {@code maxWait} until all charges are taken. Fails, with a refused reservation, as soon as the
     * permits would come too late even if nobody else asked: at once, or when others have taken them while it waited.
     * Waiting callers hold no permits and do not stand in line: a later call may be admitted first, and if many callers
     * wait for the same permits, those who get none may learn that only towards the end of their wait. To wait in line,
     * use a {@link dev.ratelimit.queue.RateLimitQueue}. Only the calling thread is used.
     *
     * <p>A wait that ends more than 10 ms after {@code maxWait}, because the scheduler is late, charges nothing either.
     * Its refused decision tells the status of the limits at that time, and may name no wait.
     *
     * @param maxWait zero or more; zero does not wait
     * @param charges what to take
     * @return what was taken, or a refused reservation
     * @throws InterruptedException if interrupted while waiting; nothing is then charged
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    public Reservation acquire(Duration maxWait, Charge... charges) throws InterruptedException {
        long deadline = deadline(maxWait);
        List<Charge> asked = List.of(charges);
        Reservation reservation = reserve(asked);
        while (worthWaiting(reservation, deadline)) {
            scheduler.sleep(reservation.decision().retryAfterNanos());
            reservation = reserveBy(deadline, asked);
        }
        return reservation;
    }

    /**
     * Like {@link #acquire}, without blocking a thread: the store is asked by {@link RateLimitStore#decideAsync}.
     * Completes on the calling thread if the store answers at once and nobody has to wait, otherwise on the limiter's
     * executor. Cancelling the future ends the wait, and leaves nothing charged and nothing in memory.
     *
     * @param maxWait zero or more; zero does not wait
     * @param charges what to take
     * @return completed with a reservation, admitted or refused; exceptionally if the store fails
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    @SuppressWarnings("FutureReturnValueIgnored") // cancelling an alarm does not fail
    public CompletableFuture<Reservation> acquireAsync(Duration maxWait, Charge... charges) {
        Wait wait = new Wait(List.of(charges), deadline(maxWait));
        wait.attempt();
        wait.result.whenComplete((reservation, failure) -> wait.cancelAlarm());
        return wait.result;
    }

    private long deadline(Duration maxWait) {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative but was " + maxWait);
        }
        return ticker.nanos() + (maxWait.compareTo(MAX_WAIT) < 0 ? maxWait : MAX_WAIT).toNanos();
    }

    /** Takes all charges or none after a wait; none if the wait ended too late. */
    private Reservation reserveBy(long deadline, List<Charge> charges) {
        return isOver(deadline) ? tooLate(store.peek(charges)) : reserve(charges);
    }

    private boolean isOver(long deadline) {
        return ticker.nanos() - deadline > TOLERANCE_NANOS;
    }

    private Reservation tooLate(Decision now) {
        return Reservation.of(store, new Decision(false, now.charges(), now.limits(), null));
    }

    private boolean worthWaiting(Reservation reservation, long deadline) {
        return !reservation.admitted() && reservation.decision().retryAfterNanos() <= deadline - ticker.nanos();
    }

    /**
     * Takes all charges, or none, so that they can later be refunded or settled at another cost.
     *
     * @param charges what to take; 0 permits only ask
     * @return what was taken, or a refused reservation
     */
    public Reservation reserve(List<Charge> charges) {
        return Reservation.of(store, store.decide(charges));
    }

    /** Between two attempts, only an alarm exists, which is cancelled when the future is completed or cancelled. */
    @SuppressWarnings(
            "FutureReturnValueIgnored") // what follows an answer handles its failures; a refund is not awaited
    private final class Wait {

        final CompletableFuture<Reservation> result = new CompletableFuture<>();

        private final List<Charge> charges;
        private final long deadline;

        @GuardedBy("this")
        private int attempts;

        @GuardedBy("this")
        private Scheduler.@Nullable Alarm alarm;

        Wait(List<Charge> charges, long deadline) {
            this.charges = charges;
            this.deadline = deadline;
        }

        void attempt() {
            if (result.isDone()) {
                return;
            }
            try {
                int attempt = begin();
                boolean late = attempt > 1 && isOver(deadline);
                CompletableFuture<Decision> answer = late ? peekAsync(charges) : decideAsync(charges);
                if (answer.isDone()) {
                    answered(attempt, late, answer);
                } else {
                    // dependents of the result run on the executor, not where the store completes its answers
                    answer.whenComplete((decision, failure) -> goOn(attempt, late, answer));
                }
            } catch (Throwable e) {
                // including errors: otherwise the future would never be completed
                result.completeExceptionally(e);
            }
        }

        private void goOn(int attempt, boolean late, CompletableFuture<Decision> answer) {
            try {
                executor.execute(() -> answered(attempt, late, answer));
            } catch (Throwable e) {
                if (!late && !answer.isCompletedExceptionally()) {
                    Reservation.of(store, answer.join()).refundAsync();
                }
                fail(e);
            }
        }

        private void answered(int attempt, boolean late, CompletableFuture<Decision> answer) {
            try {
                Decision decision = answer.join();
                Reservation reservation = late ? tooLate(decision) : Reservation.of(store, decision);
                if (worthWaiting(reservation, deadline)) {
                    set(
                            attempt,
                            scheduler.schedule(
                                    this::ring, reservation.decision().retryAfterNanos()));
                    if (result.isDone()) {
                        cancelAlarm();
                    }
                } else if (!result.complete(reservation)) {
                    reservation.refundAsync();
                }
            } catch (Throwable e) {
                result.completeExceptionally(
                        e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
            }
        }

        private synchronized int begin() {
            return ++attempts;
        }

        /** Does nothing after the alarm has run, because the next attempt may have set another. */
        private synchronized void set(int attempt, Scheduler.Alarm next) {
            if (attempt == attempts) {
                alarm = next;
            }
        }

        /** Continues on the executor: dependents of the future must not block the scheduler's thread. */
        private void ring() {
            try {
                executor.execute(this::attempt);
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }

        private void fail(Throwable failure) {
            try {
                scheduler.executor().execute(() -> result.completeExceptionally(failure));
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(failure);
            }
        }

        void cancelAlarm() {
            Scheduler.Alarm last;
            synchronized (this) {
                last = alarm;
            }
            if (last != null) {
                last.cancel();
            }
        }
    }
}

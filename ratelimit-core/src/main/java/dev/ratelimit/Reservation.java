package dev.ratelimit;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Taken permits that can be settled. The first call of {@link #commit}, {@link #settle} or {@link #refund} settles the
 * reservation; later calls have no effect. A {@link #part} can be settled on its own, before or after the rest: each
 * charge is settled once. Thread-safe. A reservation that is never settled stays charged.
 *
 * <p>{@link #refund}, {@link #release} and {@link #settle} call the store, which may block; {@link #refundAsync},
 * {@link #releaseAsync} and {@link #settleAsync} do the same without blocking the calling thread. Whichever is called
 * first settles; it has settled by the time it returns, even if the store is still being asked.
 *
 * <p>Permits of a {@linkplain Policy#concurrency concurrency} policy are held and cost nothing: they come back by
 * {@link #release} or {@link #refund}, and {@link #commit} and {@link #settle} do not concern them. So a reservation with
 * a rate and a concurrency policy is settled at its cost, and releases what it held when the work is done:
 *
 * <pre>{@code
 * Reservation reservation = limiter.reserve(tokens.charge(user, 1_000), requests.charge(user));
 * if (reservation.admitted()) {
 *     try {
 *         reservation.settle(answer());
 *     } finally {
 *         reservation.release();
 *     }
 * }
 * }</pre>
 */
public final class Reservation {

    /** How often to try to charge the remaining permits while other callers charge, too. */
    private static final int ATTEMPTS = 16;

    /** Held for a moment by whoever settles: reservations may share charges, and each is settled as a whole. */
    private static final Object SETTLING = new Object();

    /**
     * What one decision took.
     *
     * @param settled the indexes of the settled charges, guarded by {@link #SETTLING}; all parts share it
     * @param covers the charges that belong to the reservation
     */
    private record Taken(RateLimitStore store, Decision decision, BitSet settled, Predicate<Charge> covers) {

        private BitSet covered(Predicate<Charge> which) {
            BitSet covered = new BitSet();
            if (decision.admitted()) {
                for (int i = 0; i < decision.charges().size(); i++) {
                    Charge charge = decision.charges().get(i);
                    covered.set(i, which.test(charge) && covers.test(charge));
                }
            }
            return covered;
        }

        /** Those of these charges that are not settled yet. */
        private List<Charge> open(BitSet covered) {
            covered.andNot(settled);
            return covered.stream().mapToObj(decision.charges()::get).toList();
        }
    }

    private final Decision decision;
    private final List<Taken> taken;

    private Reservation(Decision decision, List<Taken> taken) {
        this.decision = decision;
        this.taken = taken;
    }

    /**
     * {@return a reservation of what a decision took} Only one reservation of a decision may be settled.
     *
     * @param store the store that decided
     * @param decision admitted or refused; not a peek, which took nothing
     */
    public static Reservation of(RateLimitStore store, Decision decision) {
        BitSet settled = new BitSet(decision.charges().size());
        return new Reservation(decision, List.of(new Taken(store, decision, settled, charge -> true)));
    }

    /** {@return the decision} A refused reservation holds nothing and counts as settled. */
    public Decision decision() {
        return decision;
    }

    /** {@return whether the charges were taken} */
    public boolean admitted() {
        return decision.admitted();
    }

    /**
     * {@return the part of this reservation with these charges only} Settling it leaves the others open; settling the
     * whole later does not settle these again. It may have no charges; settling it then has no effect.
     *
     * @param charges tells which of {@link Decision#charges} belong to the part, whenever it is settled
     */
    public Reservation part(Predicate<Charge> charges) {
        return new Reservation(
                decision,
                taken.stream()
                        .map(one -> new Taken(one.store, one.decision, one.settled, one.covers.and(charges)))
                        .toList());
    }

    /**
     * {@return the part with the charges to the policy of this name}
     *
     * @param name whose charges; without any, settling the part has no effect
     */
    public Reservation forPolicy(String name) {
        return part(charge -> charge.policy().name().equals(name));
    }

    /**
     * This reservation and another one, to be settled together.
     *
     * @param other whose charges are settled as well
     * @return a reservation whose decision has the charges and limits of both, and no receipt
     */
    public Reservation and(Reservation other) {
        Decision both = new Decision(
                decision.admitted() && other.decision.admitted(),
                concat(decision.charges(), other.decision.charges()),
                concat(decision.limits(), other.decision.limits()),
                null);
        return new Reservation(both, concat(taken, other.taken));
    }

    private static <T> List<T> concat(List<T> some, List<T> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    /**
     * Keeps the charges, but for those to concurrency policies, which stay as they are.
     *
     * @return whether this call settled any of them
     */
    @CanIgnoreReturnValue
    public boolean commit() {
        return settled(settle(Reservation::isCost, Asking.BLOCKING, (one, open, asking) -> List.of()));
    }

    /**
     * Refunds the charges, as far as they are still charged.
     *
     * @return whether this call settled any of them
     * @throws RuntimeException if the store throws; the reservation is settled nevertheless
     */
    @CanIgnoreReturnValue
    public boolean refund() {
        return settled(settle(charge -> true, Asking.BLOCKING, Reservation::refundAll));
    }

    /**
     * Returns the permits of concurrency policies, because the work is done. The other charges stay as they are.
     *
     * @return whether this call returned any
     * @throws RuntimeException if the store throws; they count as returned nevertheless
     */
    @CanIgnoreReturnValue
    public boolean release() {
        return settled(settle(charge -> !isCost(charge), Asking.BLOCKING, Reservation::refundAll));
    }

    /**
     * Like {@link #refund}, without blocking the calling thread.
     *
     * @return whether this call settled any of the charges, completed once they are refunded; exceptionally if the store
     *     fails. Cancelling it has no effect on the refund
     */
    @CanIgnoreReturnValue
    public CompletableFuture<Boolean> refundAsync() {
        return settle(charge -> true, Asking.ASYNC, Reservation::refundAll);
    }

    /**
     * Like {@link #release}, without blocking the calling thread.
     *
     * @return whether this call returned any permits, completed once it has; exceptionally if the store fails.
     *     Cancelling it has no effect on the release
     */
    @CanIgnoreReturnValue
    public CompletableFuture<Boolean> releaseAsync() {
        return settle(charge -> !isCost(charge), Asking.ASYNC, Reservation::refundAll);
    }

    private static boolean isCost(Charge charge) {
        return !charge.policy().concurrency();
    }

    /**
     * Settles each charge at its actual cost, but for those to concurrency policies, which stay as they are. If the cost
     * is lower than the reservation, the rest is refunded, as far as it is still charged. If it is higher, the
     * difference is charged as far as all limits of the policy still have permits: no budget falls below zero, and
     * nothing is refused. A penalty starts only if another caller takes some of these permits at the same moment. A
     * charge of 0 permits, which only asked, is charged this cost as well: so a call whose cost is unknown beforehand
     * can be admitted first and pay afterwards.
     *
     * @param actual permits, 0 or more
     * @return whether this call settled any of the charges
     * @throws IllegalArgumentException if {@code actual} is negative
     * @throws StoreUnavailableException if the store cannot charge a higher cost; the reservation is settled, and so
     *     are the other charges: one charge that fails does not prevent a refund
     */
    @CanIgnoreReturnValue
    public boolean settle(long actual) {
        return settled(settle(checked(actual), Asking.BLOCKING));
    }

    /**
     * Like {@link #settle}, without blocking the calling thread.
     *
     * @param actual permits, 0 or more
     * @return whether this call settled any of the charges, completed when the store has been asked for all of them;
     *     exceptionally if it fails. Cancelling it has no effect on the settlement
     * @throws IllegalArgumentException if {@code actual} is negative
     */
    @CanIgnoreReturnValue
    public CompletableFuture<Boolean> settleAsync(long actual) {
        return settle(checked(actual), Asking.ASYNC);
    }

    private static long checked(long actual) {
        if (actual < 0) {
            throw new IllegalArgumentException("actual must be at least 0 but was " + actual);
        }
        return actual;
    }

    private CompletableFuture<Boolean> settle(long actual, Asking asking) {
        return settle(Reservation::isCost, asking, (one, open, by) -> steps(one, open, actual, by));
    }

    /** What is to be done about the charges of a decision that are being settled. */
    @FunctionalInterface
    private interface Settlement {
        List<Step> of(Taken one, List<Charge> open, Asking asking);
    }

    /** A call of the store; refunds come first. */
    private record Step(boolean refunds, Supplier<CompletionStage<?>> call) {}

    /** Settles those of the open charges, and only then calls the store: nothing may fail in between. */
    private CompletableFuture<Boolean> settle(Predicate<Charge> which, Asking asking, Settlement settlement) {
        List<BitSet> covered = taken.stream().map(one -> one.covered(which)).toList();
        List<Step> steps = new ArrayList<>();
        boolean any = false;
        synchronized (SETTLING) {
            for (int i = 0; i < taken.size(); i++) {
                leaveOut(covered.get(i), taken.get(i), covered.subList(0, i));
                List<Charge> open = taken.get(i).open(covered.get(i));
                any |= !open.isEmpty();
                steps.addAll(settlement.of(taken.get(i), open, asking));
            }
            steps.sort(Comparator.comparing(Step::refunds).reversed());
            for (int i = 0; i < taken.size(); i++) {
                taken.get(i).settled.or(covered.get(i));
            }
        }
        return runAll(steps, any);
    }

    /** The result of blocking calls, which is there. */
    private static boolean settled(CompletableFuture<Boolean> result) {
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof RuntimeException exception ? exception : e;
        }
    }

    /** Leaves out what earlier parts of the same decision cover. */
    @SuppressWarnings("ReferenceEquality") // parts of one decision share the object
    private void leaveOut(BitSet charges, Taken part, List<BitSet> earlier) {
        for (int i = 0; i < earlier.size(); i++) {
            if (taken.get(i).settled == part.settled) {
                charges.andNot(earlier.get(i));
            }
        }
    }

    private static List<Step> refundAll(Taken one, List<Charge> open, Asking asking) {
        return open.isEmpty() ? List.of() : List.of(new Step(true, () -> asking.refund(one.store, one.decision, open)));
    }

    private static List<Step> steps(Taken one, List<Charge> open, long actual, Asking asking) {
        List<Step> steps = new ArrayList<>();
        List<Charge> excess = new ArrayList<>();
        for (Charge charge : open) {
            if (charge.permits() > actual) {
                excess.add(charge.policy().charge(charge.key(), charge.permits() - actual));
            } else if (charge.permits() < actual) {
                Charge more = charge.policy().charge(charge.key(), actual - charge.permits());
                steps.add(new Step(false, () -> chargeWhatIsLeft(one.store, more, asking)));
            }
        }
        steps.addAll(refundAll(one, excess, asking));
        return steps;
    }

    /** Runs all steps, one after another; fails with the first failure, with the others suppressed. */
    private static CompletableFuture<Boolean> runAll(List<Step> steps, boolean any) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        run(steps, null, failure -> {
            if (failure == null) {
                result.complete(any);
            } else {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    private static void run(List<Step> steps, @Nullable Throwable failure, Consumer<@Nullable Throwable> whenOver) {
        if (steps.isEmpty()) {
            whenOver.accept(failure);
            return;
        }
        List<Step> rest = steps.subList(1, steps.size());
        CompletionStage<?> called;
        try {
            called = steps.get(0).call.get();
        } catch (Throwable e) {
            called = CompletableFuture.failedFuture(e);
        }
        called.whenComplete((nothing, thrown) -> run(rest, firstOf(failure, thrown), whenOver));
    }

    private static @Nullable Throwable firstOf(@Nullable Throwable first, @Nullable Throwable next) {
        Throwable cause = next instanceof CompletionException && next.getCause() != null ? next.getCause() : next;
        if (first == null || cause == null) {
            return first == null ? cause : first;
        }
        if (first != cause) {
            first.addSuppressed(cause);
        }
        return first;
    }

    private static CompletionStage<?> chargeWhatIsLeft(RateLimitStore store, Charge more, Asking asking) {
        // a refusal would start a penalty, although nobody has asked for more than there is
        return more.policy().penalty() == null
                ? charge(store, more, more, asking, ATTEMPTS)
                : asking.peek(store, more)
                        .thenCompose(left -> charge(store, more, atMost(more, left), asking, ATTEMPTS));
    }

    private static CompletionStage<?> charge(
            RateLimitStore store, Charge more, Charge wanted, Asking asking, int attempts) {
        if (wanted.permits() == 0) {
            return CompletableFuture.completedFuture(null);
        }
        // a refusal knows what is left of the budget that refused, which may be one that several keys share
        return asking.decide(store, wanted)
                .thenCompose(decision -> decision.admitted() || attempts == 0
                        ? CompletableFuture.completedFuture(null)
                        : charge(store, more, atMost(more, decision), asking, attempts - 1));
    }

    /** For logs and failed tests; without the keys, which may be secrets. */
    @Override
    public String toString() {
        return "reservation, " + decision;
    }

    private static Charge atMost(Charge more, Decision answer) {
        long left =
                answer.limits().stream().mapToLong(LimitStatus::remaining).min().orElse(0);
        return more.policy().charge(more.key(), Math.min(more.permits(), left));
    }
}

package dev.ratelimit.lease;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What leases have paid of a decision; also its receipt. Used by one thread until the decision is made, and not changed
 * afterwards.
 */
final class Payment {

    /** What the store must refund of one of its decisions. */
    record Due(Decision decision, List<Charge> part) {}

    private final List<Charge> charges;

    /** The lease that has paid for the charge with the same index; {@code null} if the store is asked. */
    private final @Nullable Lease[] leases;

    private @Nullable Decision rest;

    Payment(List<Charge> charges) {
        this.charges = charges;
        this.leases = new Lease[charges.size()];
    }

    /** Records that a lease has paid for the charge with this index. */
    void paid(int index, Lease lease) {
        leases[index] = lease;
    }

    /** The charges that no lease has paid for. */
    List<Charge> unpaid() {
        List<Charge> unpaid = new ArrayList<>(charges.size());
        for (int i = 0; i < leases.length; i++) {
            if (leases[i] == null) {
                unpaid.add(charges.get(i));
            }
        }
        return unpaid;
    }

    /**
     * The decision about all charges.
     *
     * @param asked what the store has decided about those that were not paid; {@code null} if all were
     */
    Decision decision(@Nullable Decision asked, long nowNanos) {
        rest = asked;
        List<LimitStatus> statuses = new ArrayList<>(charges.size());
        for (int i = 0; i < leases.length; i++) {
            Charge charge = charges.get(i);
            Lease lease = leases[i];
            if (lease != null) {
                statuses.addAll(lease.statuses(charge, nowNanos));
            } else if (asked != null) {
                asked.limits().stream()
                        .filter(status -> status.charge().sameBudget(charge))
                        .forEach(statuses::add);
            }
        }
        boolean admitted = asked == null || asked.admitted();
        return new Decision(admitted, charges, Collections.unmodifiableList(statuses), this);
    }

    /** The store's decision about the charge with this index, or about the lease that has paid for it. */
    Decision asked(int index) {
        Lease lease = leases[index];
        return lease == null ? Objects.requireNonNull(rest) : lease.decision();
    }

    /** Returns to leases what they have paid, because the decision is not to admit; the store must refund the result. */
    List<Due> cancel() {
        List<Due> dues = new ArrayList<>(0);
        for (int i = 0; i < leases.length; i++) {
            Lease lease = leases[i];
            if (lease != null && !lease.giveBack(charges.get(i).permits())) {
                dues.add(new Due(lease.decision(), List.of(charges.get(i))));
            }
        }
        return dues;
    }

    /** Returns a part of this decision to leases; the store must refund the result. */
    List<Due> refund(Decision decision, List<Charge> part) {
        List<Charge> distinct = Charge.addUp(part);
        int[] indexes = distinct.stream().mapToInt(decision::indexOf).toArray();
        List<Due> dues = new ArrayList<>(1);
        for (int i = 0; i < indexes.length && decision.admitted(); i++) {
            Lease lease = leases[indexes[i]];
            if (lease == null || !lease.giveBack(distinct.get(i).permits())) {
                dues.add(new Due(asked(indexes[i]), List.of(distinct.get(i))));
            }
        }
        return dues;
    }
}

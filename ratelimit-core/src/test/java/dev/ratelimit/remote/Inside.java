package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** What tests of a remote store do with its requests, and see of its decisions, that is hidden from others. */
public final class Inside {

    /** How many requests a breaker remembers. */
    public static final int WINDOW = Breaker.WINDOW;

    /** How many refunds a store keeps. */
    public static final int MAX_OWED = OwedRefunds.MAX;

    /**
     * What became of a charge.
     *
     * @param stamp that the server gave it
     */
    public record Outcome(boolean byServer, boolean inMemory, Stamp stamp) {}

    private Inside() {}

    /** What became of this charge of a decision; {@code null} if it is the cache's. */
    public static @Nullable Outcome of(Decision decision, Charge charge) {
        if (!(decision.receipt() instanceof Receipt receipt)) {
            return null;
        }
        Part part = receipt.of(charge);
        return new Outcome(part.byServer(), part.inMemory(), part.stamp());
    }

    /** Whether servers were asked, and none took part in the decision. */
    public static boolean decidedAlone(Decision decision) {
        return decision.receipt() instanceof Receipt receipt && !receipt.byServers();
    }

    /** Sends requests that the caller need not await. */
    public static List<Request> post(
            Servers servers, RemoteStoreSettings settings, List<Charge> charges, Operation operation) {
        return new Sender(servers, settings).post(charges, operation);
    }

    /** Judges the server after this time at the latest. */
    public static Request endBy(Request sent, long nanos) {
        sent.endBy(nanos);
        return sent;
    }

    /** Waits until the deadline. */
    public static Answer await(Request sent, long patienceNanos) {
        return sent.await(patienceNanos);
    }

    /** Waits for less time than the server has. */
    public static Answer get(Request sent, long patienceNanos) {
        return sent.get(patienceNanos);
    }

    /** The answer, which has arrived. */
    public static Answer answer(Request sent) {
        return sent.answer();
    }

    /** Registers an action for the answer or the failure. */
    public static void then(Request sent, BiConsumer<@Nullable Answer, @Nullable Throwable> action) {
        sent.then(action);
    }
}

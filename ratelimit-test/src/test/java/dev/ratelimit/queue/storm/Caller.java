package dev.ratelimit.queue.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What is known of a caller from outside. */
final class Caller {

    final int id;
    final List<Charge> charges;
    private @Nullable CompletableFuture<Decision> result;

    /** When it came, and when it was in its line, in the order of events. */
    final long came;

    long joined = Long.MAX_VALUE;

    /** The budget it waits for; {@code null} before it waits. */
    @Nullable
    Charge at;

    /** When its wait ends. */
    long deadline;

    /** The last answer, and the one before, which counts if others have sent the caller away during the last. */
    @Nullable
    Heard heard;

    @Nullable
    Heard before;

    boolean disturbed;

    /** Whether it is not certain for which budget it waits. */
    boolean vague;

    /** Whether it was certain at some time that its permits come too late. */
    boolean hopeless;

    /** Whether others might have taken its place. */
    boolean mayGo;

    /** Why it has to be refused; {@code null} if it has not. */
    @Nullable
    String mustGo;

    /** When it was answered at the earliest and at the latest. */
    long answeredFrom;

    long answeredUntil;
    boolean judged;

    Caller(int id, List<Charge> charges, long came) {
        this.id = id;
        this.charges = Charge.addUp(charges);
        this.came = came;
    }

    void gets(CompletableFuture<Decision> future) {
        result = future;
    }

    CompletableFuture<Decision> result() {
        return Objects.requireNonNull(result);
    }

    boolean waits() {
        return result != null && !result.isDone();
    }

    boolean isAnswered() {
        return result != null && result.isDone() && !result.isCancelled();
    }

    /** Whether another one came before this one was in its line, so that either may be ahead. */
    boolean cameMeanwhile() {
        return joined != came + 1;
    }

    /** Whether it is not known yet if it waits, and where. */
    boolean isComing(Caller other) {
        return this != other && joined == Long.MAX_VALUE;
    }

    boolean waitsFor(Charge budget) {
        return waits() && at != null && at.sameBudget(budget);
    }

    boolean waitsIn(String policy) {
        return waits() && at != null && at.policy().name().equals(policy);
    }

    /** Whether it wants permits of one budget only, so that there is one line in which it can wait. */
    boolean isPlain() {
        return charges.size() == 1;
    }

    @Override
    public String toString() {
        return "caller " + id;
    }
}

package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisNoScriptException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs a script, from being written to its replies. What it asks is told when the connection writes it. A reply
 * that does not fit it closes the connection: from then on, nobody could tell which reply belongs to which command.
 */
final class Letter {

    /**
     * Where it goes.
     *
     * @param asking whether the server is to run it although it is only importing the slot
     */
    record Way(Connection connection, ServerClock clock, boolean asking) {}

    /**
     * What the script is to do.
     *
     * @param atMicros for a refund, the time of the charge
     * @param calendarMicros the server's time for windows that follow a calendar; 0 if it is roughly this instance's
     */
    record Order(Operation operation, long atMicros, long calendarMicros) {

        static final Order CHARGE = new Order(Operation.CHARGE, 0, 0);
    }

    /** What was written, and when. */
    private record Written(Call call, List<Batch> batches, long atNanos) {}

    private final Way way;
    private final Order order;
    private final Ticker ticker;

    /** Set by the thread that writes, before anything can be replied. */
    private volatile @Nullable Written written;

    Letter(Way way, Order order, Ticker ticker) {
        this.way = way;
        this.order = order;
        this.ticker = ticker;
    }

    /**
     * Sends it, by the script's text if the server does not know its digest.
     *
     * @param batches what to decide, told when it is written; nothing is asked if they are none
     * @param script the script for these batches
     * @param isWanted whether all whom it concerns still wait for the reply
     */
    CompletableFuture<List<Reply>> send(
            Supplier<List<Batch>> batches, Function<List<Batch>, Script> script, BooleanSupplier isWanted) {
        return way.connection()
                .send(() -> write(batches.get(), script), way.asking())
                .exceptionallyCompose(failure -> {
                    Written unknown = written;
                    return unknown != null
                                    && StoreFailure.cause(failure) instanceof RedisNoScriptException
                                    && isWanted.getAsBoolean()
                            ? way.connection().send(() -> write(unknown.call.withText(), unknown.batches), way.asking())
                            : CompletableFuture.failedFuture(failure);
                })
                .thenApply(this::replies)
                .whenComplete((all, failure) -> closeIfOutOfStep(failure));
    }

    private @Nullable Call write(List<Batch> batches, Function<List<Batch>, Script> script) {
        if (batches.isEmpty()) {
            return null;
        }
        long question = order.operation == Operation.REFUND
                ? order.atMicros
                : way.clock().expiryMicros();
        long calendar = order.calendarMicros == 0 ? ticker.epochNanos() / 1000 : order.calendarMicros;
        return write(Call.of(script.apply(batches), batches, order.operation, question, calendar), batches);
    }

    private Call write(Call call, List<Batch> batches) {
        written = new Written(call, batches, ticker.nanos());
        return call;
    }

    private List<Reply> replies(long[] whole) {
        Written asked = written;
        if (asked == null) {
            throw Reply.unexpected();
        }
        List<Reply> replies = Reply.of(whole, asked.call, asked.batches, order.operation);
        try {
            way.clock().heard(asked.atNanos, whole[0]);
        } catch (RuntimeException | Error e) {
            // the reply counts, and the next one tells the time, too
        }
        return replies;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // its end does not matter
    private void closeIfOutOfStep(@Nullable Throwable failure) {
        if (failure != null && LettuceFailure.of(failure).reason() == RedisStoreFailure.UNEXPECTED) {
            way.connection().close();
        }
    }
}

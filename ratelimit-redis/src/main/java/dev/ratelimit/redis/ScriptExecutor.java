package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import io.lettuce.core.RedisNoScriptException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

/**
 * Runs scripts, one command per batch, and follows a cluster's redirects. Does not block. Thread-safe.
 */
final class ScriptExecutor {

    /** The maximum number of redirects of one command. */
    private static final int MAX_REDIRECTS = 5;

    private final Ticker ticker;
    private final UnaryOperator<Script> edition;
    private final Function<Redirect, Node> elsewhere;

    /**
     * Creates a runner with these settings.
     *
     * @param settings the store's settings
     * @param elsewhere finds the node that a redirect leads to
     */
    ScriptExecutor(ServerSettings settings, Function<Redirect, Node> elsewhere) {
        this.ticker = settings.ticker();
        this.edition = settings.edition();
        this.elsewhere = elsewhere;
    }

    /**
     * Sends a batch to this server, or to the one that it redirects to.
     *
     * @param atMicros for a refund, the time of the charge
     * @return the answer, completed exceptionally if there is none for any reason
     */
    CompletableFuture<Answer> run(PendingBatch sent, Node node, Operation operation, long atMicros) {
        try {
            return connected(sent, node, operation, atMicros);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<Answer> connected(PendingBatch sent, Node node, Operation operation, long atMicros) {
        CompletableFuture<Connection> live = sent.goTo(node);
        long now = ticker.epochNanos() / 1000;
        if (live.isDone() && !live.isCompletedExceptionally()) {
            return decided(live.join(), sent, operation, atMicros, now);
        }
        return live.thenCompose(there -> decided(there, sent, operation, atMicros, now));
    }

    private CompletableFuture<Answer> decided(
            Connection connection, PendingBatch sent, Operation operation, long at, long now) {
        Batch batch = sent.batch();
        LongFunction<byte[][]> arguments = time -> batch.arguments(operation, at, time);
        return evaluate(connection, batch.script(), sent, arguments.apply(now))
                .thenCompose(answer -> answer.decided()
                        ? CompletableFuture.completedFuture(whole(answer, batch, operation))
                        : again(answer, connection, sent, arguments, now)
                                // a changed limit may follow a calendar
                                .thenCompose(second -> again(second, connection, sent, arguments, now))
                                .thenApply(third -> whole(understood(third), batch, operation)));
    }

    /** Checks that the answer is complete: something else may have replied in place of the server. */
    private static Answer whole(Answer answer, Batch batch, Operation operation) {
        boolean hasStatuses = operation == Operation.CHARGE || operation == Operation.PEEK;
        if (hasStatuses && answer.numbers().length != batch.answers()) {
            throw AnswerOutput.noAnswer();
        }
        return answer;
    }

    /** Asks again with another script or calendar if the answer requires it. */
    private CompletableFuture<Answer> again(
            Answer answer, Connection connection, PendingBatch sent, LongFunction<byte[][]> arguments, long now) {
        return switch (answer.verdict()) {
            case LACKS_ALGORITHM -> evaluate(connection, Script.ofAll(), sent, arguments.apply(now));
            case OUT_OF_CALENDAR -> evaluate(connection, Script.ofAll(), sent, arguments.apply(answer.nowMicros()));
            default -> CompletableFuture.completedFuture(answer);
        };
    }

    private static Answer understood(Answer answer) {
        return switch (answer.verdict()) {
            case LACKS_ALGORITHM ->
                throw new StoreFailure(
                        RedisStoreFailure.WRONG_TYPE, "a key holds a value that no algorithm of this version wrote");
            case OUT_OF_CALENDAR ->
                throw new StoreFailure(
                        RedisStoreFailure.ERROR, "the server's clock is outside the calendar windows sent to it");
            default -> answer;
        };
    }

    private CompletableFuture<Answer> evaluate(
            Connection connection, Script script, PendingBatch sent, byte[][] arguments) {
        Call call = new Call(edition.apply(script), false, false, sent.batch().keys(), arguments);
        return send(sent, call, connection, MAX_REDIRECTS);
    }

    /** Sends a script, and its text if the server does not know its digest; follows redirects. */
    private CompletableFuture<Answer> send(PendingBatch sent, Call call, Connection connection, int redirects) {
        // connecting may have taken too long
        sent.requireWanted();
        return connection
                .send(call)
                .exceptionallyCompose(failure -> cause(failure) instanceof RedisNoScriptException
                        ? connection.send(call.withText())
                        : CompletableFuture.failedFuture(failure))
                .exceptionallyCompose(failure -> {
                    Redirect redirect = redirects == 0 ? null : Redirect.of(cause(failure), connection.server());
                    return redirect == null
                            ? CompletableFuture.failedFuture(failure)
                            : sent.goTo(elsewhere.apply(redirect))
                                    .thenCompose(there -> send(sent, call.to(redirect), there, redirects - 1));
                });
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}

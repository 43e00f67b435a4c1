package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import io.lettuce.core.RedisNoScriptException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Runs scripts and follows a cluster's redirects. Charges to the same slot may share a command. Does not block.
 * Thread-safe.
 */
final class ScriptExecutor {

    /** The maximum number of redirects of one command. */
    private static final int MAX_REDIRECTS = 5;

    private final Ticker ticker;
    private final UnaryOperator<Script> edition;
    private final Function<Redirect, Node> elsewhere;

    /**
     * Creates an executor with these settings.
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
            CompletableFuture<Connection> live = sent.goTo(node);
            Question question = new Question(sent, operation, atMicros);
            return live.isDone() && !live.isCompletedExceptionally()
                    ? question.answer(node, live.join())
                    : live.thenCompose(there -> question.answer(node, there));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Runs a script, by its text if the server does not know its digest.
     *
     * @param isWanted whether all whom it concerns still wait for the answer
     */
    private static CompletableFuture<long[]> evaluate(Connection connection, Call call, BooleanSupplier isWanted) {
        return connection
                .send(call)
                .exceptionallyCompose(
                        failure -> cause(failure) instanceof RedisNoScriptException && isWanted.getAsBoolean()
                                ? connection.send(call.withText())
                                : CompletableFuture.failedFuture(failure));
    }

    /**
     * Decides batches together; each gets its answer, or all fail.
     *
     * @param areWanted whether all of the answers are still waited for
     */
    CompletableFuture<List<Answer>> charge(Connection connection, List<Batch> batches, BooleanSupplier areWanted) {
        Script script = edition.apply(Script.of(batches));
        return evaluate(connection, Call.of(script, batches, Operation.CHARGE, 0, nowMicros()), areWanted)
                .thenApply(reply -> Answer.of(reply, batches, Operation.CHARGE));
    }

    private long nowMicros() {
        return ticker.epochNanos() / 1000;
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
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

    /** A batch on its way to an answer. */
    private final class Question {

        private final PendingBatch sent;
        private final List<Batch> alone;
        private final Operation operation;
        private final long atMicros;

        Question(PendingBatch sent, Operation operation, long atMicros) {
            this.sent = sent;
            this.alone = List.of(sent.batch());
            this.operation = operation;
            this.atMicros = atMicros;
        }

        CompletableFuture<Answer> answer(Node node, Connection connection) {
            CompletableFuture<Answer> first = operation == Operation.CHARGE
                    ? together(node.combiner(connection, sent.batch().slot()), connection)
                    : ask(connection, Script.of(alone), nowMicros());
            return first.thenCompose(answer -> answer.usable(sent.batch()).decided()
                    ? CompletableFuture.completedFuture(answer)
                    : again(answer, connection)
                            // a changed limit may follow a calendar
                            .thenCompose(second -> again(second, connection))
                            .thenApply(ScriptExecutor::understood));
        }

        /**
         * Asks alone if nothing was charged: the script failed, perhaps for another batch, or was not sent again because
         * another caller had left, or the slot is elsewhere, or moves and has some of the keys only.
         */
        private CompletableFuture<Answer> together(Combiner combiner, Connection connection) {
            return combiner.charge(sent)
                    .exceptionallyCompose(failure -> chargedNothing(failure, connection)
                            ? ask(connection, Script.of(alone), nowMicros())
                            : CompletableFuture.failedFuture(failure));
        }

        private static boolean chargedNothing(Throwable failure, Connection connection) {
            RedisStoreFailure reason = StoreFailure.of(failure).reason();
            return reason == RedisStoreFailure.SCRIPT
                    || reason == RedisStoreFailure.MOVING
                    || cause(failure) instanceof RedisNoScriptException
                    || Redirect.of(cause(failure), connection.server()) != null;
        }

        /** Asks again, with all algorithms or another calendar, if the answer requires it. */
        private CompletableFuture<Answer> again(Answer answer, Connection connection) {
            return switch (answer.usable(sent.batch()).verdict()) {
                case LACKS_ALGORITHM -> ask(connection, Script.ofAll(), nowMicros());
                case OUT_OF_CALENDAR -> ask(connection, Script.ofAll(), answer.nowMicros());
                default -> CompletableFuture.completedFuture(answer);
            };
        }

        private CompletableFuture<Answer> ask(Connection connection, Script script, long nowMicros) {
            Call call = Call.of(edition.apply(script), alone, operation, atMicros, nowMicros);
            return send(call, connection, MAX_REDIRECTS)
                    .thenApply(reply -> Answer.of(reply, alone, operation).get(0));
        }

        /** Sends a call, and follows redirects. */
        private CompletableFuture<long[]> send(Call call, Connection connection, int redirects) {
            // connecting may have taken too long
            sent.requireWanted();
            return evaluate(connection, call, sent::isWanted).exceptionallyCompose(failure -> {
                Redirect redirect = redirects == 0 ? null : Redirect.of(cause(failure), connection.server());
                return redirect == null
                        ? CompletableFuture.failedFuture(failure)
                        : sent.goTo(elsewhere.apply(redirect))
                                .thenCompose(there -> send(call.to(redirect), there, redirects - 1));
            });
        }
    }
}

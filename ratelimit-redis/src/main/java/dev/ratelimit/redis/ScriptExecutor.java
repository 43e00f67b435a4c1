package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Letter.Order;
import dev.ratelimit.redis.Letter.Way;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisNoScriptException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Runs scripts and follows a cluster's redirects. Charges to the same slot may share a command. Does not block.
 * Thread-safe.
 */
final class ScriptExecutor {

    /** The servers, as far as commands may lead from one to another. */
    interface Servers {

        /** The server that a redirect leads to. */
        Node elsewhere(Redirect redirect);

        /** A charge to a key of nobody that this server has. */
        Batch probe(Node node);

        /** Looks for a server that has taken the place of one that still fails. */
        void failing(Node node);
    }

    /** The maximum number of redirects of one command. */
    private static final int MAX_REDIRECTS = 5;

    /** A charge of more limits goes alone: other commands wait for it. */
    private static final int MAX_COMBINED_LIMITS = 8;

    private final Ticker ticker;
    private final UnaryOperator<Script> edition;
    private final Servers servers;

    /** Creates an executor for these servers. */
    ScriptExecutor(ServerSettings settings, Servers servers) {
        this.ticker = settings.remote().ticker();
        this.edition = settings.edition();
        this.servers = servers;
    }

    /**
     * Sends a batch to this server, or to the one that it redirects to.
     *
     * @param sent enters the server, and waits for the reply
     * @return the reply, completed exceptionally if there is none for any reason
     */
    CompletableFuture<Reply> run(Request sent, Batch batch, Node node, Operation operation) {
        try {
            Question question = new Question(sent, batch, operation);
            CompletableFuture<Connection> live = question.goTo(node);
            return live.isDone() && !live.isCompletedExceptionally()
                    ? question.reply(node, live.join())
                    : live.thenCompose(there -> question.reply(node, there));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Decides batches together; each gets its reply, or all fail.
     *
     * @param batches what to decide, told when the command is written; nothing is asked if they are none
     * @param areWanted whether all of the replies are still waited for
     */
    CompletableFuture<List<Reply>> charge(Way way, Supplier<List<Batch>> batches, BooleanSupplier areWanted) {
        return new Letter(way, Order.CHARGE, ticker).send(batches, these -> edition.apply(Script.of(these)), areWanted);
    }

    /**
     * Asks a server as requests would, with every command that they need: what it refuses to one of them would otherwise fail
     * them again as soon as the probe has succeeded. One that redirects is well, too.
     *
     * @return completed exceptionally with a {@link StoreFailure} if the server fails; the caller may complete it before
     */
    CompletableFuture<?> probe(Node node) {
        Batch batch = servers.probe(node);
        // the last step is the one to return: once its result has timed out, nothing is sent over a late connection
        return told(node.link().live()).thenCompose(connection -> {
            Way way = new Way(connection, node.clock(), false);
            // one after another on the connection, in the same round trip
            return CompletableFuture.allOf(
                    probe(way, batch, Order.CHARGE), probe(way, batch, new Order(Operation.RESET, 0, 0)));
        });
    }

    private CompletableFuture<?> probe(Way way, Batch batch, Order order) {
        return new Letter(way, order, ticker)
                .send(() -> List.of(batch), these -> edition.apply(Script.of(these)), () -> true)
                .exceptionallyCompose(failure -> {
                    Redirect redirect = Redirect.of(
                            StoreFailure.cause(failure), way.connection().server());
                    if (redirect == null) {
                        return CompletableFuture.failedFuture(LettuceFailure.of(failure));
                    }
                    servers.elsewhere(redirect);
                    return CompletableFuture.completedFuture(List.of());
                });
    }

    private static CompletableFuture<Connection> told(CompletableFuture<Connection> live) {
        return live.exceptionallyCompose(failure -> CompletableFuture.failedFuture(LettuceFailure.of(failure)));
    }

    /** Looks for a server that has taken the place of one that still fails. */
    void failing(Node node) {
        servers.failing(node);
    }

    private static Reply understood(Reply reply) {
        return switch (reply.verdict()) {
            case LACKS_ALGORITHM ->
                throw new StoreFailure(
                        RedisStoreFailure.WRONG_TYPE, "a key holds a value that no algorithm of this version wrote");
            case OUT_OF_CALENDAR ->
                throw new StoreFailure(
                        RemoteStoreFailure.ERROR, "the server's clock is outside the calendar windows sent to it");
            case VOID -> throw new StoreFailure(RemoteStoreFailure.TIMEOUT, "Redis got to the command too late");
            default -> reply;
        };
    }

    /** A batch on its way to a reply. */
    private final class Question {

        private final Request sent;
        private final Batch batch;
        private final List<Batch> alone;
        private final Operation operation;

        Question(Request sent, Batch batch, Operation operation) {
            this.sent = sent;
            this.batch = batch;
            this.alone = List.of(batch);
            this.operation = operation;
        }

        CompletableFuture<Connection> goTo(Node node) {
            sent.goTo(node.health());
            return node.link().live();
        }

        CompletableFuture<Reply> reply(Node node, Connection connection) {
            sent.connected();
            Way way = new Way(connection, node.clock(), false);
            CompletableFuture<Reply> first =
                    operation == Operation.CHARGE ? together(node, way) : ask(way, Script.of(alone), 0);
            return first.thenCompose(reply -> reply.usable().decided()
                    ? CompletableFuture.completedFuture(reply)
                    : again(reply, way)
                            // a changed limit may follow a calendar
                            .thenCompose(second -> again(second, way))
                            .thenApply(ScriptExecutor::understood));
        }

        /**
         * Asks alone if nothing was charged: the script failed, perhaps for another batch, or was not sent again because
         * another caller had left, or the slot is elsewhere, or moves and has some of the keys only.
         */
        private CompletableFuture<Reply> together(Node node, Way way) {
            CompletableFuture<Reply> first = batch.entries().size() > MAX_COMBINED_LIMITS
                    ? charge(way, this::written, sent::isWanted).thenApply(replies -> replies.get(0))
                    : node.combiner(way.connection(), batch.slot()).charge(sent, batch);
            return first.exceptionallyCompose(failure -> chargedNothing(failure, way.connection())
                    ? ask(way, Script.of(alone), 0)
                    : CompletableFuture.failedFuture(failure));
        }

        private static boolean chargedNothing(Throwable failure, Connection connection) {
            StoreFailure.Reason reason = LettuceFailure.of(failure).reason();
            return reason == RedisStoreFailure.SCRIPT
                    || reason == RedisStoreFailure.MOVING
                    || StoreFailure.cause(failure) instanceof RedisNoScriptException
                    || Redirect.of(StoreFailure.cause(failure), connection.server()) != null;
        }

        /** Asks again, with all algorithms, another calendar or a later expiry, if the reply requires it. */
        private CompletableFuture<Reply> again(Reply reply, Way way) {
            return switch (reply.usable().verdict()) {
                case LACKS_ALGORITHM -> ask(way, Script.ofAll(), 0);
                case OUT_OF_CALENDAR -> ask(way, Script.ofAll(), reply.nowMicros());
                case VOID -> ask(way, Script.of(alone), 0);
                default -> CompletableFuture.completedFuture(reply);
            };
        }

        private CompletableFuture<Reply> ask(Way way, Script script, long calendarMicros) {
            Order order = new Order(operation, sent.stamp().micros(), calendarMicros);
            return send(way, order, edition.apply(script), MAX_REDIRECTS).thenApply(replies -> replies.get(0));
        }

        /** Sends it alone, and follows redirects. */
        private CompletableFuture<List<Reply>> send(Way way, Order order, Script script, int redirects) {
            return new Letter(way, order, ticker)
                    .send(this::written, these -> script, sent::isWanted)
                    .exceptionallyCompose(failure -> {
                        Redirect redirect = redirects == 0
                                ? null
                                : Redirect.of(
                                        StoreFailure.cause(failure),
                                        way.connection().server());
                        return redirect == null
                                ? CompletableFuture.failedFuture(failure)
                                : follow(redirect, order, script, redirects - 1);
                    });
        }

        private CompletableFuture<List<Reply>> follow(Redirect redirect, Order order, Script script, int redirects) {
            Node node = servers.elsewhere(redirect);
            return goTo(node).thenCompose(there -> {
                sent.connected();
                return send(new Way(there, node.clock(), redirect.asking()), order, script, redirects);
            });
        }

        /** Connecting, or the queue of the connection, may have taken too long. */
        private List<Batch> written() {
            if (!sent.isWanted()) {
                return List.of();
            }
            sent.written();
            return alone;
        }
    }
}

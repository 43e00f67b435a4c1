package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

/** Runs scripts: one command for a batch, and no more of them at once than agreed. Does not wait. Thread-safe. */
final class Runner {

    private final Link link;
    private final Ticker ticker;
    private final Semaphore places;
    private final UnaryOperator<Script> edition;

    /**
     * Runs scripts over this link.
     *
     * @param mostInFlight how many commands may be without an answer
     * @param edition what is run instead of a script; tests replace the clock in it
     */
    Runner(Link link, Ticker ticker, int mostInFlight, UnaryOperator<Script> edition) {
        this.link = link;
        this.ticker = ticker;
        this.places = new Semaphore(mostInFlight);
        this.edition = edition;
    }

    /**
     * Has a batch decided.
     *
     * @param atMicros for a refund, when it was charged
     * @param urgent whether it goes even if all places are taken
     * @return completed exceptionally when there is no answer
     */
    @SuppressWarnings("FutureReturnValueIgnored") // of giving back the place
    CompletableFuture<Answer> run(Batch batch, Operation operation, long atMicros, boolean urgent) {
        boolean placed = places.tryAcquire();
        if (!placed && !urgent) {
            return CompletableFuture.failedFuture(
                    new StoreFailure(RedisStore.Failure.SATURATED, "too many requests wait for Redis"));
        }
        CompletableFuture<Answer> answer;
        try {
            answer = connected(batch, operation, atMicros);
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        if (placed) {
            answer.whenComplete((done, failure) -> places.release());
        }
        return answer;
    }

    private CompletableFuture<Answer> connected(Batch batch, Operation operation, long atMicros) {
        CompletableFuture<Link.Live> live = link.live();
        long now = ticker.epochNanos() / 1000;
        if (live.isDone() && !live.isCompletedExceptionally()) {
            return decided(live.join().commands(), batch, operation, atMicros, now);
        }
        return live.thenCompose(there -> decided(there.commands(), batch, operation, atMicros, now));
    }

    private CompletableFuture<Answer> decided(
            RedisClusterAsyncCommands<String, byte[]> commands, Batch batch, Operation operation, long at, long now) {
        LongFunction<byte[][]> arguments = time -> batch.arguments(operation, at, time);
        return evaluate(commands, batch.script(), batch, arguments.apply(now))
                .thenCompose(answer -> answer.decided()
                        ? CompletableFuture.completedFuture(answer)
                        : again(answer, commands, batch, arguments, now)
                                // a limit that was changed may be one that follows a calendar
                                .thenCompose(second -> again(second, commands, batch, arguments, now))
                                .thenApply(Runner::understood));
    }

    /** Asks again, with another script or calendar, when the answer says that it takes that. */
    private CompletableFuture<Answer> again(
            Answer answer,
            RedisClusterAsyncCommands<String, byte[]> commands,
            Batch batch,
            LongFunction<byte[][]> arguments,
            long now) {
        return switch (answer.verdict()) {
            case LACKS_ALGORITHM -> evaluate(commands, Script.ofAll(), batch, arguments.apply(now));
            case OUT_OF_CALENDAR -> evaluate(commands, Script.ofAll(), batch, arguments.apply(answer.nowMicros()));
            default -> CompletableFuture.completedFuture(answer);
        };
    }

    private static Answer understood(Answer answer) {
        return switch (answer.verdict()) {
            case LACKS_ALGORITHM ->
                throw new StoreFailure(
                        RedisStore.Failure.WRONG_TYPE, "a key holds what no algorithm of this version has written");
            case OUT_OF_CALENDAR ->
                throw new StoreFailure(RedisStore.Failure.ERROR, "the server's time is out of every calendar");
            default -> answer;
        };
    }

    private CompletableFuture<Answer> evaluate(
            RedisClusterAsyncCommands<String, byte[]> commands, Script script, Batch batch, byte[][] arguments) {
        Script text = edition.apply(script);
        String[] keys = batch.keys();
        CompletableFuture<Answer> first = dispatch(commands, CommandType.EVALSHA, text.sha(), keys, arguments);
        return first.exceptionallyCompose(failure -> {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            return cause instanceof RedisNoScriptException
                    ? dispatch(commands, CommandType.EVAL, text.text(), keys, arguments)
                    : CompletableFuture.failedFuture(cause);
        });
    }

    private static CompletableFuture<Answer> dispatch(
            RedisClusterAsyncCommands<String, byte[]> commands,
            CommandType command,
            String script,
            String[] keys,
            byte[][] arguments) {
        CommandArgs<String, byte[]> args =
                new CommandArgs<>(Link.CODEC).add(script).add(keys.length).addKey(keys[0]);
        // by the first key a cluster's client finds the slot; what it knows as a key is dearer to send
        for (int i = 1; i < keys.length; i++) {
            args.add(keys[i].getBytes(StandardCharsets.US_ASCII));
        }
        for (byte[] argument : arguments) {
            args.add(argument);
        }
        return commands.dispatch(command, new AnswerOutput(), args).toCompletableFuture();
    }
}

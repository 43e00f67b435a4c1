package dev.ratelimit.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A connection of the Lettuce client. */
record LettuceConnection(String server, StatefulRedisConnection<String, byte[]> connection) implements Connection {

    /** Keys are text; scripts' arguments are bytes. */
    static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.ASCII, ByteArrayCodec.INSTANCE);

    @Override
    public boolean isOpen() {
        return connection.isOpen();
    }

    @Override
    public CompletableFuture<long[]> send(Call call) {
        CommandType type = call.whole() ? CommandType.EVAL : CommandType.EVALSHA;
        if (!call.asking()) {
            return connection
                    .async()
                    .dispatch(type, new AnswerOutput(), arguments(call))
                    .toCompletableFuture();
        }
        AsyncCommand<String, byte[], long[]> command =
                new AsyncCommand<>(new Command<>(type, new AnswerOutput(), arguments(call)));
        // in a single write, so that no other command comes in between
        connection.dispatch(
                List.of(new AsyncCommand<>(new Command<>(CommandType.ASKING, new StatusOutput<>(CODEC))), command));
        return command.toCompletableFuture();
    }

    private static CommandArgs<String, byte[]> arguments(Call call) {
        String[] keys = call.keys();
        CommandArgs<String, byte[]> args = new CommandArgs<>(CODEC)
                .add(call.whole() ? call.script().text() : call.script().sha())
                .add(keys.length)
                .addKey(keys[0]);
        // keys that the client recognizes as such are more expensive to send
        for (int i = 1; i < keys.length; i++) {
            args.add(keys[i].getBytes(StandardCharsets.US_ASCII));
        }
        for (byte[] argument : call.arguments()) {
            args.add(argument);
        }
        return args;
    }

    @Override
    public CompletableFuture<String> clusterNodes() {
        return connection.async().clusterNodes().toCompletableFuture();
    }

    @Override
    public CompletableFuture<String> memory() {
        return connection.async().info("memory").toCompletableFuture();
    }

    /** Does not close it twice: the client would log a warning. */
    @Override
    public CompletionStage<Void> close() {
        return connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed()
                ? CompletableFuture.completedFuture(null)
                : connection.closeAsync();
    }
}

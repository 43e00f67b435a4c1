package dev.ratelimit.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A connection of the Lettuce client. */
final class LettuceConnection implements Connection {

    /** Keys are text; scripts' arguments are bytes. */
    static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.ASCII, ByteArrayCodec.INSTANCE);

    private final String server;
    private final StatefulRedisConnection<String, byte[]> connection;

    /** Whether a command has failed because the server has closed the connection. */
    private volatile boolean lost;

    LettuceConnection(String server, StatefulRedisConnection<String, byte[]> connection) {
        this.server = server;
        this.connection = connection;
    }

    @Override
    public String server() {
        return server;
    }

    /** The client says so only a while after commands have begun to fail: until then, each of them would. */
    @Override
    public boolean isOpen() {
        return !lost && connection.isOpen();
    }

    @Override
    public void whenClosed(Runnable action) {
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> closed) {
                action.run();
            }
        });
    }

    @Override
    public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
        Letter letter = new Letter(call);
        if (asking) {
            // in a single write, so that no other command comes in between
            connection.dispatch(
                    List.of(new AsyncCommand<>(new Command<>(CommandType.ASKING, new StatusOutput<>(CODEC))), letter));
        } else {
            connection.dispatch(letter);
        }
        return letter;
    }

    /**
     * A command that is made when it is written, with what has arrived by then. If there is nothing to ask, a {@code PING}
     * takes its place, and the command fails when that is answered: whoever learns of the failure may send the next command,
     * which must not be written before this one.
     */
    private final class Letter extends AsyncCommand<String, byte[], long[]> {

        /** How the client begins to say so; it has no type for that. */
        private static final String QUEUE_IS_FULL = "Request queue size exceeded";

        private final Supplier<@Nullable Call> call;

        /** Whether it has failed, or is about to. */
        @GuardedBy("this")
        private boolean failed;

        /** Why it asks nothing, if so. */
        private volatile @Nullable StoreFailure unasked;

        Letter(Supplier<@Nullable Call> call) {
            super(new Command<>(CommandType.EVALSHA, new ReplyOutput()));
            this.call = call;
        }

        @Override
        public void encode(ByteBuf out) {
            int start = out.writerIndex();
            try {
                Call made = compose();
                if (made != null) {
                    encode(made, out);
                    return;
                }
                unasked = StoreFailure.stalled("nobody waits for the answer any more", null);
            } catch (RuntimeException | Error e) {
                unasked = StoreFailure.stalled("the command could not be composed: " + e, e);
            }
            // the client expects a reply to whatever it writes
            out.writerIndex(start);
            new Command<>(CommandType.PING, new StatusOutput<>(CODEC)).encode(out);
        }

        private synchronized @Nullable Call compose() {
            return failed ? null : call.get();
        }

        /** The client's timer may do this while another thread writes: then what was composed is known before the failure. */
        @Override
        public boolean completeExceptionally(Throwable failure) {
            synchronized (this) {
                failed = true;
            }
            StoreFailure known = unasked;
            if (known == null
                    && LettuceFailure.of(failure).reason() == RemoteStoreFailure.CONNECTION
                    && !String.valueOf(failure.getMessage()).startsWith(QUEUE_IS_FULL)) {
                lost = true;
            }
            return super.completeExceptionally(known == null ? failure : known);
        }

        private void encode(Call made, ByteBuf out) {
            CommandType type = made.whole() ? CommandType.EVAL : CommandType.EVALSHA;
            new Command<>(type, new ReplyOutput(), arguments(made)).encode(out);
        }
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

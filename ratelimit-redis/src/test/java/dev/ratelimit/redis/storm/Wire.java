package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.World.Place;
import io.lettuce.core.RedisException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A connection: both directions keep their order. It may be cut, or be dead without anybody knowing. */
final class Wire implements Seam.Wire {

    /** A command on its way. */
    @SuppressWarnings("ArrayRecordComponent") // only their identity matters
    record Sent<T>(
            Class<T> type,
            Function<Server, T> command,
            CompletableFuture<T> answer,
            boolean decision,
            String[] keys,
            byte[][] arguments,
            long atNanos) {}

    /** A server's reply: a result or a failure. */
    private record Reply(
            @Nullable Sent<?> to,
            @Nullable Object result,
            @Nullable RuntimeException failure) {

        @SuppressWarnings("ReferenceEquality") // two commands may ask the same
        boolean answers(Sent<?> asked) {
            return to == asked;
        }
    }

    private static final long QUIET_NANOS = 1_010_000_000;
    private static final long GRACE_NANOS = 1_000_000;

    /** How long it takes the thread that writes to get to it. */
    static final long MAX_WRITE_NANOS = 50_000;

    /** How long it takes at most to replace a connection where nothing is wrong, besides connecting. */
    private static final long REPLACE_NANOS = 100_000_000;

    private final World world;
    private final Network network;
    private final Place place;
    private final Server server;
    private final Deque<Sent<?>> outstanding = new ArrayDeque<>();
    private final Deque<Runnable> writes = new ArrayDeque<>();
    private final Deque<Sent<?>> outgoing = new ArrayDeque<>();
    private final Deque<Reply> incoming = new ArrayDeque<>();

    /** What the client has read while it awaited nothing. */
    private final Deque<Reply> unread = new ArrayDeque<>();

    /** What happens to the next reply; and the one that was kept back, or lost its end. */
    private @Nullable Fault confusion;

    private @Nullable Reply kept;
    private boolean cut;
    private final int run;
    private final long openedNanos;
    private boolean open = true;
    private long closedAt;
    private boolean dead;
    private long lastWrite;
    private long lastArrival;
    private long lastDelivery;
    private long heard;
    private long firstInVain;

    /** The command whose failure has just arrived. */
    private @Nullable Sent<?> replying;

    Wire(World world, Network network, Place place, Server server) {
        this.world = world;
        this.network = network;
        this.place = place;
        this.server = server;
        this.run = server.runs();
        this.openedNanos = world.now();
        this.heard = openedNanos;
    }

    int run() {
        return run;
    }

    Place place() {
        return place;
    }

    Server server() {
        return server;
    }

    /** How many decisions sent since then have no answer yet, except those that had waited for this connection. */
    long decisionsSince(long nanos) {
        return outstanding.stream()
                .filter(sent -> sent.decision && sent.atNanos > nanos && sent.atNanos - openedNanos > GRACE_NANOS)
                .count();
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void write(Runnable writing) {
        lastWrite = Math.max(lastWrite, world.now() + world.random.nextLong(MAX_WRITE_NANOS));
        writes.add(writing);
        world.in(lastWrite - world.now(), place, () -> writes.remove().run());
    }

    @Override
    public CompletableFuture<long[]> script(
            @Nullable String text, String sha, boolean asking, String[] keys, byte[][] arguments) {
        String operation = new String(arguments[0], StandardCharsets.US_ASCII);
        boolean decision = (operation.equals("charge") && !Network.isProbe(keys)) || operation.equals("peek");
        Sent<?> former = replying;
        if (decision && former != null && former.arguments == arguments) {
            requireWanted(former);
        }
        network.sends(place, keys, arguments);
        return send(new Sent<>(
                long[].class,
                server -> network.run(place, server, text, sha, asking, keys, arguments),
                new CompletableFuture<>(),
                decision,
                keys,
                arguments,
                world.now()));
    }

    @Override
    public CompletableFuture<String> clusterNodes() {
        network.refreshed(place);
        return send(new Sent<>(
                String.class,
                network::clusterNodes,
                new CompletableFuture<>(),
                false,
                new String[0],
                new byte[0][],
                world.now()));
    }

    /** What a server has refused is sent again only while somebody waits for it. */
    private void requireWanted(Sent<?> refused) {
        long age = world.now() - refused.atNanos;
        world.require(
                age <= network.deadlineNanos() + Storm.WAKE_NANOS
                        || place.stillUntil > refused.atNanos
                        || refused.atNanos <= place.startedNanos,
                "%s sends a decision again after %.3f s",
                place,
                age / 1e9);
    }

    private <T> CompletableFuture<T> send(Sent<T> sent) {
        if (!open) {
            // commands under way may follow a redirect at this very moment
            world.require(
                    world.now() - closedAt < GRACE_NANOS, "%s uses a connection to %s that is closed", place, server);
            return CompletableFuture.failedFuture(
                    new RedisException("Currently not connected. Commands are rejected."));
        }
        outstanding.add(sent);
        network.sent(place, server, sent.decision ? decisions(sent.arguments) : 0);
        if (sent.decision) {
            requireUseful();
        }
        if (!dead && network.passes(place, server)) {
            lastArrival = Math.max(lastArrival, world.now() + network.delay(place, server));
            outgoing.add(sent);
            world.in(lastArrival - world.now(), world.outside(), () -> {
                Sent<?> first = outgoing.remove();
                if (!dead && network.passes(place, server)) {
                    server.receive(this, first);
                } else {
                    dead = true;
                }
            });
        } else {
            dead = true;
        }
        return sent.answer;
    }

    /** How many decisions a command asks for. */
    private static int decisions(byte[][] arguments) {
        ByteBuffer plan = ByteBuffer.wrap(arguments[2]);
        int decisions = 0;
        while (plan.hasRemaining()) {
            int limits = plan.getShort();
            plan.position(plan.position() + 2 * Short.BYTES * limits);
            decisions++;
        }
        return decisions;
    }

    /** After a second without a reply, the first decision in vain puts a connection in doubt. */
    private void requireUseful() {
        long now = world.now();
        // before it has started, an instance asks with more patience
        boolean started = place.startedNanos < now;
        if (firstInVain == 0 && dead && started && now - heard > QUIET_NANOS) {
            firstInVain = now;
        }
        long answersBy = firstInVain + network.deadlineNanos();
        boolean doubtful = firstInVain > 0
                && now - answersBy > REPLACE_NANOS + network.connecting().nanos()
                && network.calmSince(firstInVain - QUIET_NANOS)
                && network.isReachable(place, server)
                && !network.connecting().isFull(place, server)
                && !network.hasInterrupts(place);
        world.require(!doubtful, "%s uses a dead connection to %s", place, server);
    }

    /** Sends what a command resulted in to the client. */
    void reply(Sent<?> sent, @Nullable Object result, @Nullable RuntimeException failure) {
        if (dead || !network.passes(place, server)) {
            dead = true;
            return;
        }
        lastDelivery = Math.max(lastDelivery, world.now() + network.delay(place, server));
        incoming.add(new Reply(sent, result, failure));
        world.in(lastDelivery - world.now(), place, () -> {
            Reply first = incoming.poll();
            if (first != null && open && !dead) {
                pass(first);
            }
        });
    }

    /** Lets something happen to the next replies, or nothing any more; see {@link Fault}. */
    void confuse(@Nullable Fault how) {
        confusion = how;
    }

    private void pass(Reply reply) {
        Reply before = kept;
        Fault how = confusion;
        kept = null;
        confusion = null;
        if (before != null) {
            receive(cut ? new Reply(null, null, Seam.unexpectedReply()) : reply);
            if (!cut) {
                receive(before);
            }
        } else if (how == Fault.REPLY_CUT || how == Fault.REPLIES_SWAPPED) {
            kept = reply;
            cut = how == Fault.REPLY_CUT;
        } else if (how != Fault.REPLY_LOST) {
            receive(reply);
            if (how == Fault.REPLY_TWICE) {
                receive(reply);
            }
        }
    }

    /** The client takes replies for those to its commands, in their order, and reads no further than it has asked. */
    private void receive(Reply reply) {
        heard = world.now();
        unread.add(reply);
        while (open && !unread.isEmpty() && !outstanding.isEmpty()) {
            complete(outstanding.remove(), unread.remove());
        }
    }

    private <T> void complete(Sent<T> asked, Reply reply) {
        Object result = reply.result;
        RuntimeException failure = reply.failure;
        if (failure == null && !asked.type.isInstance(result)) {
            failure = Seam.unexpectedReply();
        }
        if (reply.answers(asked)) {
            network.told(place, asked.keys, asked.arguments, result instanceof long[] numbers ? numbers : null);
        }
        if (failure != null) {
            if (reply.failure != null && reply.to != null && !reply.answers(asked)) {
                network.misled(place);
            }
            network.asksAgain(place);
            replying = asked;
            asked.answer.completeExceptionally(failure);
            replying = null;
            return;
        }
        asked.answer.complete(asked.type.cast(result));
    }

    /** Loses the connection; the client is told. */
    void cut() {
        world.in(network.delay(place, server), place, this::close);
    }

    /** Loses the connection, and nobody is told. */
    void falterSilently() {
        dead = true;
    }

    @Override
    public void close() {
        if (open) {
            open = false;
            closedAt = world.now();
            server.forget(this);
            network.closed(this);
            while (!outstanding.isEmpty()) {
                outstanding.remove().answer.completeExceptionally(new RedisException("Connection closed"));
            }
        }
    }
}

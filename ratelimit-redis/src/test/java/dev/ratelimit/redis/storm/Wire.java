package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.Seam;
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
            Function<Server, T> command,
            CompletableFuture<T> answer,
            boolean decision,
            byte @Nullable [][] arguments,
            long atNanos) {}

    private static final long QUIET_NANOS = 1_010_000_000;
    private static final long GRACE_NANOS = 1_000_000;

    /** How long it takes the thread that writes to get to it. */
    private static final long MAX_WRITE_NANOS = 50_000;

    /** How long it takes at most to connect where nothing is wrong. */
    private static final long REPLACE_NANOS = 250_000_000;

    private final World world;
    private final Network network;
    private final Place place;
    private final Server server;
    private final Deque<Sent<?>> outstanding = new ArrayDeque<>();
    private final Deque<Runnable> incoming = new ArrayDeque<>();
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
        world.in(lastWrite - world.now(), place, writing);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // only the books are told
    public CompletableFuture<long[]> script(
            @Nullable String text, String sha, boolean asking, String[] keys, byte[][] arguments) {
        String operation = new String(arguments[0], StandardCharsets.US_ASCII);
        boolean decision = operation.equals("charge") || operation.equals("peek");
        Sent<?> former = replying;
        if (decision && former != null && former.arguments == arguments) {
            requireWanted(former);
        }
        network.books().passed(place, keys, arguments, null);
        CompletableFuture<long[]> answer =
                send(server -> network.run(server, text, sha, asking, keys, arguments), decision, arguments);
        answer.thenAccept(reply -> network.books().passed(place, keys, arguments, reply));
        return answer;
    }

    @Override
    public CompletableFuture<String> clusterNodes() {
        network.refreshed(place);
        return send(network::clusterNodes, false, null);
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

    private <T> CompletableFuture<T> send(
            Function<Server, T> command, boolean decision, byte @Nullable [][] arguments) {
        if (!open) {
            // commands under way may follow a redirect at this very moment
            world.require(
                    world.now() - closedAt < GRACE_NANOS, "%s uses a connection to %s that is closed", place, server);
            return CompletableFuture.failedFuture(
                    new RedisException("Currently not connected. Commands are rejected."));
        }
        Sent<T> sent = new Sent<>(command, new CompletableFuture<>(), decision, arguments, world.now());
        outstanding.add(sent);
        network.sent(place, server, arguments != null && decision ? decisions(arguments) : 0);
        if (decision) {
            requireUseful();
        }
        if (!dead && network.passes(place, server)) {
            lastArrival = Math.max(lastArrival, world.now() + network.delay(place, server));
            world.in(lastArrival - world.now(), world.outside(), () -> {
                if (!dead && network.passes(place, server)) {
                    server.receive(this, sent);
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
                && now - answersBy > REPLACE_NANOS
                && network.calmSince(firstInVain - QUIET_NANOS)
                && network.isReachable(place, server)
                && !network.connecting().isFull(place, server)
                && !network.hasInterrupts(place);
        world.require(!doubtful, "%s uses a dead connection to %s", place, server);
    }

    <T> void reply(Sent<T> sent, @Nullable T result, @Nullable RuntimeException failure) {
        if (dead || !network.passes(place, server)) {
            dead = true;
            return;
        }
        lastDelivery = Math.max(lastDelivery, world.now() + network.delay(place, server));
        incoming.add(() -> {
            outstanding.remove(sent);
            heard = world.now();
            if (failure == null) {
                sent.answer.complete(result);
            } else {
                replying = sent;
                sent.answer.completeExceptionally(failure);
                replying = null;
            }
        });
        world.in(lastDelivery - world.now(), place, () -> {
            Runnable first = incoming.poll();
            if (first != null && open && !dead) {
                first.run();
            }
        });
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

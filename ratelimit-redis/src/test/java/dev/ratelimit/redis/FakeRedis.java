package dev.ratelimit.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.redis.server.ScriptServer.State;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server that runs the real scripts in the test's own thread and time, and that can hang or lose what it should reply. A
 * caller that waits in vain lets the time pass until its deadline. Not thread-safe.
 */
final class FakeRedis extends OneServer implements Scheduler {

    private record Received(Call call, Wire from, CompletableFuture<long[]> reply) {}

    private final FakeTicker time;
    private final ScriptServer server;
    private final Queue<Received> received = new ArrayDeque<>();
    private final Queue<Runnable> late = new ArrayDeque<>();
    private final List<Wire> wires = new ArrayList<>();
    private long aheadMicros;
    private boolean hangs;
    private boolean repliesLate;
    private boolean down;
    private boolean mute;
    private boolean stalls;
    private boolean losesNext;
    private long @Nullable [] foreign;
    private int prompt;
    private @Nullable Wire slow;
    private Runnable meanwhile = () -> {};
    private boolean unreadable;
    private boolean refusesAlarms;
    private boolean scriptsAreLost;
    private final List<Call> executed = new ArrayList<>();
    private int connected;

    FakeRedis(FakeTicker time) {
        this.time = time;
        this.server = new ScriptServer(() -> time.epochNanos() / 1000 + aheadMicros);
    }

    /** A store on this server, with the default settings. */
    RedisStoreBuilder store() {
        return new RedisStoreBuilder(settings -> this)
                .ticker(time)
                .scheduler(this)
                .threads(Runnable::run);
    }

    /** Executes nothing until it {@linkplain #goOn goes on}. */
    void hang() {
        hangs = true;
    }

    /** Executes only later what was received meanwhile, when the result is run; goes on with the rest. */
    Runnable holdUp() {
        List<Received> heldUp = List.copyOf(received);
        received.clear();
        hangs = false;
        return () -> heldUp.forEach(this::execute);
    }

    /** Executes all that was received meanwhile. */
    void goOn() {
        hangs = false;
        while (!received.isEmpty()) {
            execute(received.remove());
        }
    }

    /** From now on, replies arrive when they are {@linkplain #deliver delivered}. */
    void delayReplies() {
        repliesLate = true;
    }

    /** The same for the first connection, after this many more replies. */
    void delayRepliesAfter(int replies) {
        prompt = replies;
        slow = wires.get(0);
    }

    /** Never gets the next command. */
    void loseNextCommand() {
        losesNext = true;
    }

    /** Replies to the next command with these numbers. */
    void replyNext(long... numbers) {
        foreign = numbers;
    }

    /** Does this while the next caller waits. */
    void meanwhile(Runnable action) {
        meanwhile = action;
    }

    void deliver() {
        repliesLate = false;
        slow = null;
        while (!late.isEmpty()) {
            late.remove().run();
        }
    }

    /** Executes commands, whose replies are lost together with the connection. */
    void loseReplies() {
        mute = true;
    }

    /** Loses all connections, and what was received on them before it was executed. */
    void cutAndForget() {
        received.clear();
        cut();
    }

    /** Executes commands, for whose replies this instance has no memory. */
    void makeRepliesUnreadable(boolean on) {
        unreadable = on;
    }

    /** From now on, or not any more, no alarm can be set. */
    void refuseAlarms(boolean on) {
        refusesAlarms = on;
    }

    /** Loses all connections; what was received is still executed some time. */
    void cut() {
        mute = false;
        List.copyOf(wires).forEach(Wire::close);
    }

    /** Refuses connections. */
    void goDown() {
        down = true;
        cut();
    }

    void comeBack() {
        down = false;
    }

    /** Sets its clock forward, or back if negative. */
    void setClock(long seconds) {
        aheadMicros += seconds * 1_000_000;
    }

    /** From now on, callers who wait in vain are woken twice as late as they should be. */
    void stall() {
        stalls = true;
    }

    /** From now on, it allows scripts only this. */
    void state(State state) {
        server.state(state);
    }

    /** How many connections are open. */
    int connections() {
        return wires.size();
    }

    /** How many connections there have been. */
    int connected() {
        return connected;
    }

    /** From now on, it has no script that is known by its digest alone. */
    void loseScripts() {
        scriptsAreLost = true;
    }

    /** How many scripts it has run or refused to run. */
    int executed() {
        return executed.size();
    }

    /** Whether each of them was sent with its text. */
    List<Boolean> whole() {
        return executed.stream().map(Call::whole).toList();
    }

    private void execute(Received command) {
        Call call = command.call;
        executed.add(call);
        Runnable reply;
        try {
            long[] own = scriptsAreLost && !call.whole()
                    ? server.evalSha(call.script().sha(), call.keys(), call.arguments())
                    : server.eval(call.script().text(), call.keys(), call.arguments());
            long[] numbers = foreign == null ? own : foreign;
            foreign = null;
            reply = unreadable
                    ? () -> command.reply.completeExceptionally(new OutOfMemoryError("Java heap space"))
                    : () -> command.reply.complete(numbers);
        } catch (RuntimeException e) {
            reply = () -> command.reply.completeExceptionally(e);
        }
        if (mute || !command.from.open) {
            return;
        }
        if (repliesLate || (command.from == slow && prompt-- <= 0)) {
            late.add(reply);
        } else {
            reply.run();
        }
    }

    private final class Wire implements Connection {

        private final List<CompletableFuture<long[]>> underWay = new ArrayList<>();
        private boolean open = true;
        private Runnable whenClosed = () -> {};

        @Override
        public String server() {
            return ANY;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void whenClosed(Runnable action) {
            whenClosed = action;
        }

        @Override
        public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
            if (!open) {
                return CompletableFuture.failedFuture(new RedisException("Connection closed"));
            }
            Call made = call.get();
            if (made == null) {
                return CompletableFuture.failedFuture(StoreFailure.stalled("nobody waits", null));
            }
            CompletableFuture<long[]> reply = new CompletableFuture<>();
            underWay.add(reply);
            if (losesNext) {
                losesNext = false;
                return reply;
            }
            received.add(new Received(made, this, reply));
            if (!hangs) {
                goOn();
            }
            return reply;
        }

        @Override
        public CompletableFuture<String> clusterNodes() {
            throw new UnsupportedOperationException("not a cluster");
        }

        @Override
        public CompletableFuture<String> memory() {
            return CompletableFuture.completedFuture("maxmemory:0\r\n");
        }

        @Override
        public CompletionStage<Void> close() {
            if (open) {
                open = false;
                wires.remove(this);
                underWay.forEach(reply -> reply.completeExceptionally(new RedisException("Connection closed")));
                whenClosed.run();
            }
            return CompletableFuture.completedFuture(null);
        }
    }

    @Override
    public Connection connect(String name) {
        if (down) {
            throw new RedisException("Connection refused");
        }
        Wire wire = new Wire();
        connected++;
        wires.add(wire);
        return wire;
    }

    @Override
    public String title(String name) {
        return "fake";
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        if (refusesAlarms) {
            throw new RejectedExecutionException("no thread");
        }
        return time.schedule(task, delayNanos);
    }

    @Override
    public boolean await(CompletableFuture<?> future, long nanos) {
        if (!future.isDone()) {
            Runnable once = meanwhile;
            meanwhile = () -> {};
            once.run();
        }
        if (!future.isDone() && nanos > 0) {
            time.advanceNanos(stalls ? 2 * nanos : nanos);
        }
        return future.isDone();
    }
}

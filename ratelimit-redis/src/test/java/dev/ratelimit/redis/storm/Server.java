package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.redis.server.ScriptServer.State;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;

/** A server's process: it runs one command after another, unless it stands still, is gone, or refuses. */
final class Server {

    private static final long SERVICE_NANOS = 15_000;

    /** What arrived and has not been run. */
    private record Request<T>(Wire wire, Wire.Sent<T> sent) {}

    private final World world;
    private final String address;
    private final Set<Wire> wires = new LinkedHashSet<>();
    private final Queue<Request<?>> inbox = new ArrayDeque<>();
    private ScriptServer data;
    private long clockOffsetNanos;
    private long slowNanos;
    private boolean up = true;
    private int runs;
    private boolean hanging;
    private boolean running;
    private State state = State.HEALTHY;

    Server(World world, String address) {
        this.world = world;
        this.address = address;
        this.data = newData();
    }

    private ScriptServer newData() {
        return new ScriptServer(() -> (World.EPOCH_NANOS + world.now() + clockOffsetNanos) / 1000);
    }

    String address() {
        return address;
    }

    ScriptServer data() {
        return data;
    }

    boolean isHanging() {
        return hanging;
    }

    boolean isUp() {
        return up;
    }

    /** Whether it answers commands, in time and without an error. */
    boolean isWell() {
        return up && !hanging && state == State.HEALTHY && slowNanos == 0;
    }

    /** Sets its clock forward, or back. */
    void moveClock(long nanos) {
        clockOffsetNanos += nanos;
    }

    /** Makes each command take longer by this time. */
    void slowDown(long nanos) {
        slowNanos = nanos;
    }

    /** Sets what it refuses. */
    void state(State next) {
        state = next;
        data.state(next);
    }

    /** Stops the process: it runs what arrived only when it continues. */
    void hang() {
        hanging = true;
    }

    void proceed() {
        hanging = false;
        next();
    }

    /** Ends the process; clients are told, unless the whole machine is gone. */
    void kill(boolean told) {
        up = false;
        runs++;
        inbox.clear();
        for (Wire wire : List.copyOf(wires)) {
            if (told) {
                wire.cut();
            } else {
                wire.falterSilently();
            }
        }
        wires.clear();
    }

    /** Starts the process again, without data unless they were kept. */
    void start(boolean keepsData) {
        up = true;
        hanging = false;
        if (!keepsData) {
            data = newData();
        }
        data.flushScripts();
        state(State.HEALTHY);
    }

    void accept(Wire wire) {
        wires.add(wire);
    }

    void forget(Wire wire) {
        wires.remove(wire);
    }

    /** How often the process has ended: what was sent to a former one does not arrive. */
    int runs() {
        return runs;
    }

    <T> void receive(Wire wire, Wire.Sent<T> sent) {
        if (up && wire.run() == runs) {
            inbox.add(new Request<>(wire, sent));
            next();
        }
    }

    private void next() {
        if (!running && !hanging && up && !inbox.isEmpty()) {
            running = true;
            world.in(SERVICE_NANOS + slowNanos, world.outside(), () -> {
                running = false;
                Request<?> request = hanging ? null : inbox.poll();
                if (request != null && up) {
                    run(request);
                }
                next();
            });
        }
    }

    private <T> void run(Request<T> request) {
        T result = null;
        RedisException failure = null;
        try {
            Function<Server, T> command = request.sent().command();
            result = command.apply(this);
        } catch (RedisException e) {
            world.note(() -> this + ": " + e.getMessage());
            failure = e;
        }
        request.wire().reply(request.sent(), result, failure);
    }

    @Override
    public String toString() {
        return address;
    }
}

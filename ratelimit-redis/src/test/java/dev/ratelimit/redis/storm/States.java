package dev.ratelimit.redis.storm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The state that each key must have after each script, refunds included: what a server says is left must follow from
 * what it was asked before. By the server's clock, in microseconds.
 */
final class States {

    /** The numbers of a bucket or a window, and the times of the permits of a log. */
    private static final class State {
        private long atMicros;
        private double debt;
        private double ends;
        private double start;
        private double previous;
        private double count;
        private final List<Permit> permits = new ArrayList<>();
    }

    /** A permit of a log, or one that is held: when it was taken, and what its charge is known by. */
    private record Permit(long atMicros, long stamp) {}

    private final World world;
    private final Map<String, State> states = new HashMap<>();

    /** Starts with unused keys. */
    States(World world) {
        this.world = world;
    }

    /** Records that keys were reset. */
    void reset(String[] keys) {
        states.keySet().removeAll(Arrays.asList(keys));
    }

    /** Checks what a server says of a key when it charges, or is asked. */
    void asked(Asked asked, long nowMicros, boolean charged) {
        State state = states.computeIfAbsent(asked.key(), key -> new State());
        pass(state, asked, nowMicros);
        if (charged) {
            charge(state, asked, nowMicros);
        }
        double[] expected = expected(state, asked);
        // before it has the limit's numbers, a reply about a penalty has its end
        int from = Character.isUpperCase(asked.algorithm()) ? 1 : 0;
        for (int i = 0; i < expected.length; i++) {
            world.require(
                    expected[i] == asked.state()[from + i],
                    "%s: after what was charged and refunded, a server must say %s, and says %s",
                    asked.key(),
                    Arrays.toString(expected),
                    Arrays.toString(asked.state()));
        }
    }

    /** Records that a server refunded a charge of this time. */
    void refunded(Asked asked, long nowMicros, long chargedMicros) {
        State state = states.computeIfAbsent(asked.key(), key -> new State());
        pass(state, asked, nowMicros);
        switch (asked.kind()) {
            case 't' -> state.debt = Math.max(0, state.debt - asked.permits() * asked.parameter(3));
            case 'i' -> state.debt = Math.max(0, state.debt - asked.permits());
            case 'f' ->
                state.count -= chargedMicros < state.start ? 0 : Math.min(state.count, (double) asked.permits());
            case 's' -> {
                if (chargedMicros >= state.start) {
                    state.count = Math.max(0, state.count - asked.permits());
                } else if (state.start - chargedMicros <= asked.parameter(2)) {
                    state.previous = Math.max(0, state.previous - asked.permits());
                }
            }
            default -> {
                for (long i = 0; i < asked.permits(); i++) {
                    state.permits.stream()
                            .filter(permit -> permit.stamp == asked.stamp(chargedMicros))
                            .findFirst()
                            .ifPresent(state.permits::remove);
                }
            }
        }
    }

    private static void pass(State state, Asked asked, long now) {
        double window = asked.parameter(2);
        switch (asked.kind()) {
            case 't' -> state.debt = Math.max(0, state.debt - (now - state.atMicros) * asked.parameter(2));
            case 'i' -> refill(state, asked.parameter(2), asked.parameter(3), now);
            case 'f' -> state.count = now < state.ends ? state.count : 0;
            case 's' -> {
                if (now - state.start >= 2 * window) {
                    state.previous = 0;
                    state.count = 0;
                } else if (now - state.start >= window) {
                    state.start += window;
                    state.previous = state.count;
                    state.count = 0;
                }
                state.start = state.previous == 0 && state.count == 0 ? now : state.start;
            }
            default -> state.permits.removeIf(permit -> permit.atMicros <= now - window);
        }
        state.atMicros = now;
    }

    private static void refill(State state, double refill, double period, long now) {
        double refills = Math.floor((now - state.start) / period);
        if (state.debt <= refills * refill) {
            state.start = now;
            state.debt = 0;
        } else {
            state.start += refills * period;
            state.debt -= refills * refill;
        }
    }

    private static void charge(State state, Asked asked, long now) {
        long permits = asked.permits();
        switch (asked.kind()) {
            case 't' -> state.debt += permits * asked.parameter(3);
            case 'i' -> state.debt += permits;
            case 'f' -> {
                if (state.count == 0) {
                    state.ends = asked.number(0);
                    state.start = asked.number(2);
                }
                state.count += permits;
            }
            case 's' -> state.count += permits;
            default -> {
                for (long i = 0; i < permits; i++) {
                    state.permits.add(new Permit(now, asked.stamp(now)));
                }
            }
        }
    }

    private static double[] expected(State state, Asked asked) {
        return switch (asked.kind()) {
            case 't' -> new double[] {state.debt};
            case 'i' -> new double[] {state.start, state.debt};
            case 'f' ->
                state.count == 0
                        ? new double[] {asked.number(0), 0}
                        : new double[] {state.ends, state.count, state.start};
            case 's' -> new double[] {state.start, state.previous, state.count};
            default -> new double[] {state.permits.size()};
        };
    }
}

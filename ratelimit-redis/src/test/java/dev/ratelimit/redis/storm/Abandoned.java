package dev.ratelimit.redis.storm;

/** Unwinds the stack of an actor that still waits when its history is over. */
final class Abandoned extends Error {

    private static final long serialVersionUID = 1L;

    Abandoned() {
        super("abandoned", null, false, false);
    }
}

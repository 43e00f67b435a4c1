package dev.ratelimit.simulator.suggest;

/** What the keys of one policy ask for. */
interface Demand {

    void add(long nanos, String key, long cost);

    /** Gives the permits of a request back whose status is free. */
    void refund(long nanos, String key, long cost);
}

package dev.ratelimit.benchmarks;

/**
 * The heap of a measurement. Its young part is small and of one size: where it grows meanwhile, what allocates pays for pages that
 * the system hands out for the first time, which may cost more than all the rest.
 */
final class Heap {

    static final String GC = "-XX:+UseG1GC";
    static final String MOST = "-Xmx4g";
    static final String YOUNG = "-Xmn256m";

    private Heap() {}
}

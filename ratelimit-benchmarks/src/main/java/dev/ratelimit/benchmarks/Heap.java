package dev.ratelimit.benchmarks;

/**
 * The heap of a measurement. Its young part is small and has a fixed size: if it grows, an allocating contender pays
 * for pages that the system provides for the first time, which may cost more than everything else.
 */
final class Heap {

    static final String GC = "-XX:+UseG1GC";
    static final String MOST = "-Xmx4g";
    static final String YOUNG = "-Xmn256m";

    private Heap() {}
}

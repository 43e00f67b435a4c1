package dev.ratelimit.benchmarks;

import org.openjdk.jmh.annotations.Threads;

/** The same bucket, two threads. What counts here is how the cache line travels between two cores. */
@Threads(2)
public class ContendedLimiterBenchmark extends HotLimiterBenchmark {}

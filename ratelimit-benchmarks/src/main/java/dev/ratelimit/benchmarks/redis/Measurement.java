package dev.ratelimit.benchmarks.redis;

import org.HdrHistogram.Histogram;

/** The result of one round of one contender; CPU time and commands are per decision. */
record Measurement(
        double perSecond,
        double p50Micros,
        double p99Micros,
        double serverCpuMicros,
        double clientCpuMicros,
        double commands,
        double othersCores) {

    static Measurement of(Histogram answers, Usage used) {
        double decisions = answers.getTotalCount();
        return new Measurement(
                decisions / used.nanos() * 1e9,
                answers.getValueAtPercentile(50) / 1e3,
                answers.getValueAtPercentile(99) / 1e3,
                used.serverCpuMicros() / decisions,
                used.clientCpuMicros() / decisions,
                used.commands() / decisions,
                used.othersCores());
    }
}

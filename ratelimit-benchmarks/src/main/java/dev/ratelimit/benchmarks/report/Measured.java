package dev.ratelimit.benchmarks.report;

import dev.ratelimit.benchmarks.CpuTime;
import java.util.Objects;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The result of one JVM with one contender, per call.
 *
 * @param nanos the time that a thread waits
 * @param cpuNanos of the whole process
 * @param bytes allocated
 * @param othersCores how many cores other processes used
 */
record Measured(double nanos, double cpuNanos, double bytes, double othersCores) {

    /** If others use this much of a core, a measurement is repeated. */
    private static final double DISTURBED = 0.1;

    /** The quietest of the plan's tries. */
    static Measured of(Scenario scenario, String contender, Plan plan) {
        Measured quietest = once(scenario, contender, plan);
        for (int again = 0; again < plan.repeats() && quietest.othersCores > DISTURBED; again++) {
            Measured other = once(scenario, contender, plan);
            quietest = other.othersCores < quietest.othersCores ? other : quietest;
        }
        return quietest;
    }

    private static Measured once(Scenario scenario, String contender, Plan plan) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + scenario.method().replace(".", "\\.") + "$")
                .param(scenario.contenders().parameter(), contender)
                .threads(scenario.threads())
                .forks(1)
                .warmupIterations(plan.warmUps())
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(plan.iterations())
                .measurementTime(plan.iteration())
                .addProfiler(GCProfiler.class)
                .addProfiler(CpuTime.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        scenario.parameters().forEach(options::param);
        try {
            Others others = new Others();
            RunResult result = new Runner(options.build()).runSingle();
            return new Measured(
                    result.getPrimaryResult().getScore(),
                    secondary(result, CpuTime.NAME),
                    secondary(result, "gc.alloc.rate.norm"),
                    others.cores(0));
        } catch (RunnerException e) {
            throw new IllegalStateException(contender + " could not be measured in " + scenario.name(), e);
        }
    }

    private static double secondary(RunResult result, String name) {
        return Objects.requireNonNull(result.getSecondaryResults().get(name), name)
                .getScore();
    }
}

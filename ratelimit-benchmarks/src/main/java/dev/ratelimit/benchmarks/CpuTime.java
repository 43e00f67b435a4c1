package dev.ratelimit.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * A profiler for JMH: CPU time of the whole process per call, in nanoseconds. It includes the threads of collectors and
 * caches, and excludes the time in which other processes used the core.
 */
public final class CpuTime implements InternalProfiler {

    /** The name of the result. */
    public static final String NAME = "cpu.norm";

    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private long before;

    @Override
    public String getDescription() {
        return "CPU time of the process for one call";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = SYSTEM.getProcessCpuTime();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double used = SYSTEM.getProcessCpuTime() - before;
        long calls = result.getMetadata().getAllOps();
        return List.of(new ScalarResult(NAME, used / calls, "ns/op", AggregationPolicy.AVG));
    }
}

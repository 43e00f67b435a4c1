package dev.ratelimit.benchmarks.redis;

import com.sun.management.OperatingSystemMXBean;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The usage so far: CPU time of the server, of this process and in total, and commands that the server ran. */
record Usage(long nanos, double serverCpuMicros, double clientCpuMicros, double machineCpuMicros, double commands) {

    private static final Path COUNTERS = Path.of("/proc/stat");
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    static Usage now(RedisCommands<String, String> server) {
        double seconds =
                sum(server.info("cpu"), line -> line.matches("used_cpu_(user|sys):.*"), line -> after(line, ":"));
        double commands = sum(
                server.info("commandstats"),
                line -> line.startsWith("cmdstat_") && !line.startsWith("cmdstat_info:"),
                line -> after(line, "calls="));
        return new Usage(System.nanoTime(), seconds * 1e6, SYSTEM.getProcessCpuTime() / 1e3, machine(), commands);
    }

    Usage since(Usage before) {
        return new Usage(
                nanos - before.nanos,
                serverCpuMicros - before.serverCpuMicros,
                clientCpuMicros - before.clientCpuMicros,
                machineCpuMicros - before.machineCpuMicros,
                commands - before.commands);
    }

    /** How many cores others used, including machines on the same host; not a number if that is not counted. */
    double othersCores() {
        return Math.max(0, machineCpuMicros - serverCpuMicros - clientCpuMicros) * 1e3 / nanos;
    }

    /** The first line of Linux's counters: user, nice, system, idle, iowait, irq, softirq, steal; in hundredths of a second. */
    private static double machine() {
        if (!Files.isReadable(COUNTERS)) {
            return Double.NaN;
        }
        try (Stream<String> lines = Files.lines(COUNTERS)) {
            String[] counts = lines.findFirst().orElseThrow().split(" +", -1);
            return IntStream.of(1, 2, 3, 6, 7, 8)
                            .mapToLong(i -> Long.parseLong(counts[i]))
                            .sum()
                    * 1e4;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double sum(String info, Predicate<String> which, ToDoubleFunction<String> number) {
        return Stream.of(info.split("\r\n")).filter(which).mapToDouble(number).sum();
    }

    private static double after(String line, String mark) {
        return Double.parseDouble(
                line.substring(line.indexOf(mark) + mark.length()).split(",", 2)[0]);
    }
}

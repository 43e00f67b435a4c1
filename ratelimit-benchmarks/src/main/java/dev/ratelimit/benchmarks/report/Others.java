package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How many cores others use: other processes, and other machines on the same host. From Linux's counters of hundredths
 * of a second; not a number on other systems.
 */
public final class Others {

    private static final Path MACHINE = Path.of("/proc/stat");
    private static final Path SELF = Path.of("/proc/self/stat");
    private static final double TICK_NANOS = 1e7;

    private final long start = System.nanoTime();
    private final double machine = machine();
    private final double own = own();

    /** Since construction. {@code childrenNanos} is the time of this process's children that have not ended yet. */
    public double cores(double childrenNanos) {
        double others = machine() - machine - (own() - own) - childrenNanos;
        return Math.max(0, others / (System.nanoTime() - start));
    }

    /** The first line of the counters: user, nice, system, idle, iowait, irq, softirq, steal. */
    private static double machine() {
        return sum(MACHINE, 0, 1, 2, 3, 6, 7, 8);
    }

    /**
     * The fields after the name in brackets: user and system time of the process, and of its children that have ended.
     */
    private static double own() {
        return sum(SELF, 1, 12, 13, 14, 15);
    }

    private static double sum(Path file, int part, int... columns) {
        if (!Files.isReadable(file)) {
            return Double.NaN;
        }
        try {
            List<String> parts = List.of(Files.readAllLines(file).get(0).split("\\) ", -1));
            String[] numbers = parts.get(part).split(" +", -1);
            return IntStream.of(columns)
                            .mapToLong(column -> Long.parseLong(numbers[column]))
                            .sum()
                    * TICK_NANOS;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

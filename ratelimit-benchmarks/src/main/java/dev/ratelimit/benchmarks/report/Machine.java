package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The machine of the measurements. */
final class Machine {

    private Machine() {}

    static String description() {
        return String.format(
                Locale.ROOT,
                "%d processors (%s), %s %s %s, %s %s, %s; load before: %.1f",
                processors(),
                model(),
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                System.getProperty("java.vm.name"),
                System.getProperty("java.vm.version"),
                ManagementFactory.getGarbageCollectorMXBeans().stream()
                        .map(GarbageCollectorMXBean::getName)
                        .collect(Collectors.joining(", ")),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    /** The name as a part of a file name. */
    static String name() {
        return processors() + "x-" + Names.ofFile(model().replaceAll("\\(.*?\\)|@.*|CPU|Processor", ""));
    }

    private static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    private static String model() {
        Path file = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(file)) {
            return System.getProperty("os.arch");
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 2))
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

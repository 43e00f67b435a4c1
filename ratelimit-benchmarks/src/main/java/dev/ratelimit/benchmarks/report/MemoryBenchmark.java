package dev.ratelimit.benchmarks.report;

import dev.ratelimit.benchmarks.FilledHeap;
import dev.ratelimit.benchmarks.KeyedContender;
import dev.ratelimit.benchmarks.PausedHeap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How many bytes of heap a used key takes, and how long collections pause the JVM with many keys and with almost none.
 * The strings of the keys are stored elsewhere and do not count. Each contender has a separate JVM. The argument is the
 * number of keys.
 */
public final class MemoryBenchmark {

    static final int KEYS = 1_000_000;

    private static final List<KeyedContender> CONTENDERS = List.of(
            KeyedContender.BARE_TABLE,
            KeyedContender.MAP,
            KeyedContender.OURS,
            KeyedContender.OURS_FIXED_WINDOW,
            KeyedContender.OURS_SLIDING_WINDOW,
            KeyedContender.BUCKET4J,
            KeyedContender.RESILIENCE4J,
            KeyedContender.GUAVA);

    private static final List<KeyedContender> PAUSED =
            List.of(KeyedContender.NOTHING, KeyedContender.OURS, KeyedContender.MAP, KeyedContender.BUCKET4J);

    private MemoryBenchmark() {}

    /** Measures, and writes a table. */
    public static void main(String[] arguments) {
        int keys = arguments.length == 0 ? KEYS : Integer.parseInt(arguments[0]);
        ResultFile file = new ResultFile("memory");
        file.write("Used heap after collections, with the keys less without.", List.of(table(keys), pauses(keys)));
    }

    static Table table(int keys) {
        List<Double> bytes = new ArrayList<>();
        for (KeyedContender contender : CONTENDERS) {
            double each = (double) retained(contender, keys) / keys;
            System.err.printf(Locale.ROOT, "memory: %s: %.1f B a key%n", Names.plain(contender.name()), each);
            bytes.add(each);
        }
        double floor = bytes.get(0);
        double ours = bytes.get(CONTENDERS.indexOf(KeyedContender.OURS));
        List<List<String>> rows = new ArrayList<>();
        for (int i = 0; i < bytes.size(); i++) {
            double each = bytes.get(i);
            rows.add(List.of(
                    Names.plain(CONTENDERS.get(i).name()),
                    String.format(Locale.ROOT, "%.1f", each),
                    Table.ratio(each / floor),
                    Table.ratio(each / ours)));
        }
        return new Table(
                String.format(Locale.ROOT, "Memory of %,d keys", keys),
                List.of("contender", "bytes/key", "of bare-table", "of ratelimit"),
                rows);
    }

    /** Pauses of young and full collections, with the same heap for all contenders. */
    static Table pauses(int keys) {
        List<List<String>> rows = new ArrayList<>();
        for (KeyedContender contender : PAUSED) {
            for (int number : contender == KeyedContender.NOTHING ? List.of(keys) : List.of(10, keys)) {
                String name = Names.plain(contender.name());
                List<String> cells = List.of(child(PausedHeap.class, 1024 + keys / 2000, contender, number)
                        .split(" ", -1));
                System.err.printf("pauses: %s, %d keys: %s%n", name, number, cells);
                rows.add(List.of(
                        name, String.format(Locale.ROOT, "%,d", number), cells.get(0), cells.get(1), cells.get(2)));
            }
        }
        return new Table(
                "Pauses by collections, 10 s, two threads",
                List.of("contender", "keys", "collections", "mean ms", "longest ms"),
                rows);
    }

    private static long retained(KeyedContender contender, int keys) {
        return Long.parseLong(child(FilledHeap.class, 1024 + keys / 1000, contender, keys));
    }

    private static String child(Class<?> main, int megabytes, KeyedContender contender, int keys) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = List.of(
                java,
                "-Xmx" + megabytes + "m",
                "-XX:+UseG1GC",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName(),
                contender.name(),
                Integer.toString(keys));
        try {
            Process child = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String answer = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (child.waitFor() != 0) {
                throw new IllegalStateException(contender + " ended with " + child.exitValue());
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }
}

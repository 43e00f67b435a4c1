package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Draws a chart for each table of a file of results: bars, or lines for a table of {@link ScaleBenchmark}. Arguments: the file,
 * the folder for the charts, and optionally words, one of which the title must contain.
 */
public final class Charts {

    private Charts() {}

    /** Draws the charts. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            System.err.println("which file of results, and which folder for the charts?");
            System.exit(2);
        }
        List<String> wanted = List.of(arguments).subList(2, arguments.length);
        Path folder = Files.createDirectories(Path.of(arguments[1]));
        for (Table table : Table.in(Files.readString(Path.of(arguments[0])))) {
            if (wanted.isEmpty() || wanted.stream().anyMatch(table.title()::contains)) {
                Path file = folder.resolve(Names.ofFile(table.title()) + ".svg");
                boolean curve = table.title().startsWith(ScaleBenchmark.TITLE);
                Files.writeString(
                        file,
                        curve ? new LineChart(table).svg() : BarChart.of(table).svg());
                System.err.println("drawn: " + file);
            }
        }
    }
}

package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** A table with a title, written and read in Markdown. */
public record Table(String title, List<String> header, List<List<String>> rows) {

    /** The table as a section. */
    public String markdown() {
        List<String> lines = new ArrayList<>();
        lines.add(line(header));
        lines.add("|---|" + String.join("", Collections.nCopies(header.size() - 1, "---:|")));
        rows.forEach(row -> lines.add(line(row)));
        return "## " + title + "\n\n" + String.join("\n", lines) + "\n";
    }

    /** A ratio in the notation of tables. */
    public static String ratio(double ratio) {
        return String.format(Locale.ROOT, "%.2f", ratio);
    }

    /** All tables of a text. */
    static List<Table> in(String markdown) {
        List<Table> tables = new ArrayList<>();
        String title = "";
        List<List<String>> rows = new ArrayList<>();
        for (String line : (markdown + "\n## ").lines().toList()) {
            if (line.startsWith("## ")) {
                if (rows.size() > 2) {
                    tables.add(new Table(title, rows.get(0), List.copyOf(rows.subList(2, rows.size()))));
                }
                rows.clear();
                title = line.substring(3);
            } else if (line.startsWith("|")) {
                rows.add(cells(line));
            }
        }
        return tables;
    }

    private static String line(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |";
    }

    private static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        for (String cell : line.substring(1, line.lastIndexOf('|')).split("\\|", -1)) {
            cells.add(cell.strip());
        }
        return cells;
    }
}

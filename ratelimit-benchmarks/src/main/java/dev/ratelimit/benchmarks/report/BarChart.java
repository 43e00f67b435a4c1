package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The first numbers of a table as bars, starting at zero, with this library's in another colour.
 *
 * @param unit of the numbers, as in the header of the table
 */
record BarChart(String title, String unit, List<Bar> bars) {

    private static final int WIDTH = 720;
    private static final int LEFT = 210;
    private static final int RIGHT = 80;
    private static final int TOP = 64;
    private static final int ROW = 28;
    private static final int BAR = 18;
    private static final String OTHERS = "#b4bcc4";

    /** The text at the left and at the right of a bar, and its length. */
    private record Bar(String name, String label, double value) {

        boolean ours() {
            return name.startsWith(Names.OURS);
        }
    }

    static BarChart of(Table table) {
        List<Bar> bars = new ArrayList<>();
        for (List<String> row : table.rows()) {
            bars.add(new Bar(
                    row.get(0), row.get(1), Double.parseDouble(row.get(1).replace(",", ""))));
        }
        return new BarChart(table.title(), table.header().get(1), bars);
    }

    String svg() {
        int height = TOP + bars.size() * ROW + 12;
        StringBuilder svg = new StringBuilder(Svg.begin(WIDTH, height, title));
        svg.append(Svg.text(
                16,
                46,
                Svg.FAINT,
                " font-size=\"13\"",
                unit + (unit.endsWith("/s") ? ", more is better" : ", less is better")));
        double most = bars.stream().mapToDouble(Bar::value).max().orElse(1);
        for (int i = 0; i < bars.size(); i++) {
            svg.append(bar(bars.get(i), TOP + i * ROW, (WIDTH - LEFT - RIGHT) / most));
        }
        return svg.append("</svg>\n").toString();
    }

    private static String bar(Bar bar, int y, double scale) {
        double length = bar.value() * scale;
        String weight = bar.ours() ? " font-weight=\"600\"" : "";
        return Svg.text(LEFT - 10, y + 14, Svg.TEXT, weight + " text-anchor=\"end\"", bar.name())
                + String.format(
                        Locale.ROOT,
                        "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
                        LEFT,
                        y,
                        length,
                        BAR,
                        bar.ours() ? Svg.OURS : OTHERS)
                + Svg.text(LEFT + length + 8, y + 14, Svg.TEXT, weight, bar.label());
    }
}

package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The numbers of a table as lines over its first column, which is on a logarithmic scale; the others start at zero. */
record LineChart(Table table) {

    private static final int WIDTH = 720;
    private static final int HEIGHT = 300;
    private static final int LEFT = 64;
    private static final int RIGHT = 24;
    private static final int TOP = 64;
    private static final int BOTTOM = 48;
    private static final String MIDDLE = " text-anchor=\"middle\"";
    private static final String END = " text-anchor=\"end\"";
    private static final List<String> COLOURS = List.of(Svg.OURS, "#b3541e", "#6b7280");

    String svg() {
        double most = 0;
        for (int series = 1; series < table.header().size(); series++) {
            most = Math.max(
                    most, column(series).stream().mapToDouble(y -> y).max().orElse(1));
        }
        StringBuilder svg = new StringBuilder(Svg.begin(WIDTH, HEIGHT, table.title()));
        grid(svg, most);
        for (int series = 1; series < table.header().size(); series++) {
            line(svg, series, most);
        }
        return svg.append("</svg>\n").toString();
    }

    private void grid(StringBuilder svg, double most) {
        for (int part = 0; part <= 4; part++) {
            double value = most * part / 4;
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e5e7eb\"/>%n",
                    LEFT,
                    WIDTH - RIGHT,
                    y(value, most),
                    y(value, most)));
            svg.append(
                    Svg.text(LEFT - 8, y(value, most) + 4, Svg.FAINT, END, String.format(Locale.ROOT, "%.0f", value)));
        }
        List<Double> xs = column(0);
        for (int i = 0; i < xs.size(); i++) {
            String label = table.rows().get(i).get(0);
            svg.append(Svg.text(x(xs.get(i), xs), HEIGHT - BOTTOM + 20, Svg.FAINT, MIDDLE, label));
        }
        String axis = table.header().get(0);
        svg.append(Svg.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8, Svg.FAINT, MIDDLE, axis));
    }

    private void line(StringBuilder svg, int series, double most) {
        String colour = COLOURS.get((series - 1) % COLOURS.size());
        List<Double> xs = column(0);
        List<Double> ys = column(series);
        List<String> points = new ArrayList<>();
        for (int i = 0; i < xs.size(); i++) {
            points.add(String.format(Locale.ROOT, "%.1f,%.1f", x(xs.get(i), xs), y(ys.get(i), most)));
        }
        svg.append("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" points=\"%s\"/>%n"
                .formatted(colour, String.join(" ", points)));
        svg.append(Svg.text(
                16 + 220.0 * (series - 1), 46, colour, "", table.header().get(series)));
    }

    private List<Double> column(int column) {
        return table.rows().stream()
                .map(row -> Double.valueOf(row.get(column).replace(",", "")))
                .toList();
    }

    private static double x(double value, List<Double> xs) {
        double first = Math.log(xs.get(0));
        double last = Math.log(xs.get(xs.size() - 1));
        return LEFT + 16 + (WIDTH - LEFT - RIGHT - 40) * (Math.log(value) - first) / Math.max(last - first, 1e-9);
    }

    private static double y(double value, double most) {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most;
    }
}

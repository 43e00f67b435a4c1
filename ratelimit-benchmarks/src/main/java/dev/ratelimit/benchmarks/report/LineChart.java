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
    private static final String FAINT = "#57606a";
    private static final List<String> COLOURS = List.of("#1f6f8b", "#b3541e", "#6b7280");

    String svg() {
        double most = 0;
        for (int series = 1; series < table.header().size(); series++) {
            most = Math.max(
                    most, column(series).stream().mapToDouble(y -> y).max().orElse(1));
        }
        StringBuilder svg = new StringBuilder();
        svg.append("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" \
                font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">
                <title>%s</title>
                <rect width="100%%" height="100%%" fill="#ffffff"/>
                <text x="16" y="26" font-size="16" font-weight="600" fill="#24292f">%s</text>
                """.formatted(WIDTH, HEIGHT, WIDTH, HEIGHT, table.title(), table.title()));
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
            svg.append(text(LEFT - 8, y(value, most) + 4, "end", FAINT, String.format(Locale.ROOT, "%.0f", value)));
        }
        List<Double> xs = column(0);
        for (int i = 0; i < xs.size(); i++) {
            String label = table.rows().get(i).get(0);
            svg.append(text(x(xs.get(i), xs), HEIGHT - BOTTOM + 20, "middle", FAINT, label));
        }
        String axis = table.header().get(0);
        svg.append(text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8, "middle", FAINT, axis));
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
        svg.append(text(
                16 + 220.0 * (series - 1), 46, "start", colour, table.header().get(series)));
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

    private static String text(double x, double y, String anchor, String colour, String content) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                colour,
                content);
    }
}

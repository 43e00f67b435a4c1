package dev.ratelimit.benchmarks.report;

import java.util.Locale;

/** The parts that all charts have. */
final class Svg {

    static final String OURS = "#1f6f8b";
    static final String TEXT = "#24292f";
    static final String FAINT = "#57606a";

    private Svg() {}

    /** The beginning of a chart, up to its heading. */
    static String begin(int width, int height, String title) {
        return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" \
                font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="14">
                <title>%s</title>
                <rect width="100%%" height="100%%" fill="#ffffff"/>
                """.formatted(width, height, width, height, escape(title))
                + text(16, 26, TEXT, " font-size=\"16\" font-weight=\"600\"", title);
    }

    /** A text; attributes begin with a space. */
    static String text(double x, double y, String colour, String attributes, String content) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\"%s>%s</text>%n",
                x,
                y,
                colour,
                attributes,
                escape(content));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}

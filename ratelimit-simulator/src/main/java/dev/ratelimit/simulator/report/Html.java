package dev.ratelimit.simulator.report;

import java.util.List;
import java.util.Locale;

/** Writes HTML. Not thread-safe. */
final class Html {

    private final StringBuilder out = new StringBuilder();

    /** Adds markup as it is. */
    Html add(String markup) {
        out.append(markup);
        return this;
    }

    /** Adds text. */
    Html text(String text) {
        out.append(escaped(text));
        return this;
    }

    /** Adds an element that contains only text. */
    Html element(String name, String text) {
        return add("<" + name + ">").text(text).add("</" + name.split(" ", 2)[0] + ">\n");
    }

    /** Adds figures with their names. */
    Html figures(List<String[]> figures) {
        add("<dl class=\"figures\">\n");
        figures.forEach(figure ->
                add("<div>").element("dt", figure[0]).element("dd", figure[1]).add("</div>\n"));
        return add("</dl>\n");
    }

    /** Begins a table; the first column has names, all others numbers. */
    Html table(String id, String... headings) {
        add("<div class=\"table\"><table" + (id.isEmpty() ? "" : " id=\"" + id + "\"") + "><thead><tr>");
        for (String heading : headings) {
            element("th scope=\"col\"", heading);
        }
        return add("</tr></thead><tbody>\n");
    }

    Html row(String attributes, String... cells) {
        add("<tr" + attributes + ">");
        for (String cell : cells) {
            add("<td>").text(cell).add("</td>");
        }
        return add("</tr>\n");
    }

    Html endTable() {
        return add("</tbody></table></div>\n");
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    static String percent(long part, long whole) {
        return whole == 0 ? "0 %" : String.format(Locale.ROOT, "%.3g %%", 100.0 * part / whole);
    }

    @Override
    public String toString() {
        return out.toString();
    }
}

package dev.ratelimit.simulator.report;

import dev.ratelimit.Rate;
import dev.ratelimit.simulator.statistics.KeyCount;
import dev.ratelimit.simulator.statistics.LimitCurve;
import dev.ratelimit.simulator.statistics.LimitCurve.Candidate;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.statistics.TimeSeries;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes a report: one HTML file with its data, charts and styles, which loads nothing. */
public final class HtmlReport {

    private static final int SHOWN_KEYS = 20;
    private static final int SHOWN_INTERVALS = 60;
    private static final long SECOND = 1_000_000_000L;

    private final ReportData data;
    private final Html html = new Html();

    private HtmlReport(ReportData data) {
        this.data = data;
    }

    /** Writes the report. */
    public static void write(ReportData data, Writer out) throws IOException {
        HtmlReport report = new HtmlReport(data);
        report.page();
        out.write(report.html.toString());
    }

    private void page() throws IOException {
        html.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
                .element("title", data.title())
                .add("<style>\n" + resource("uplot/uPlot.min.css") + resource("report.css") + "</style>\n")
                .add("</head>\n<body>\n<main>\n");
        head();
        int index = 0;
        for (PolicyStatistics policy : data.statistics().policies()) {
            policy(policy, index++);
        }
        leftOut();
        notes();
        html.add("</main>\n<footer>\n<p>Times are in UTC. The charts are drawn with uPlot:</p>\n<pre>")
                .text(resource("uplot/LICENSE"))
                .add("</pre>\n</footer>\n")
                .add("<script type=\"application/json\" id=\"data\">" + ChartData.of(data) + "</script>\n")
                .add("<script>\n" + resource("uplot/uPlot.iife.min.js") + "\n" + resource("report.js") + "</script>\n")
                .add("</body>\n</html>\n");
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the resource " + name + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void head() {
        ReplayStatistics all = data.statistics();
        LogSummary log = data.log();
        html.element("h1", data.title());
        if (all.requests() == 0) {
            html.element("p class=\"warning\"", "There are no requests in the log.");
            return;
        }
        html.element(
                "p class=\"quiet\"",
                Html.number(all.requests()) + " requests from " + instant(all.firstNanos()) + " to "
                        + instant(all.lastNanos()));
        List<String[]> figures = new ArrayList<>();
        figures.add(new String[] {"admitted", Html.number(all.requests() - all.refused())});
        figures.add(new String[] {"refused", Html.number(all.refused())});
        figures.add(new String[] {"refused, share", Html.percent(all.refused(), all.requests())});
        figures.add(new String[] {"admitted in a second, at most", Html.number(all.peakPerSecond())});
        if (all.peakInFlight() > 0) {
            figures.add(new String[] {"at the same time, at most", Html.number(all.peakInFlight())});
        }
        html.figures(figures);
        log.unread().forEach(unread -> html.element("p class=\"warning\"", unread));
        series("all", all.series());
    }

    private void policy(PolicyStatistics policy, int index) {
        Rule rule = data.limits().rules().inForce().byPolicy().get(policy.name());
        html.add("<section>\n")
                .element("h2", policy.name())
                .element(
                        "p class=\"quiet\"",
                        rule == null ? "" : data.limits().asWritten(rule).describe());
        html.figures(List.of(
                new String[] {"admitted", Html.number(policy.admitted())},
                new String[] {rule != null && rule.shadow() ? "would refuse" : "refused", Html.number(policy.refused())
                },
                new String[] {"keys", Html.number(policy.keys())},
                new String[] {"keys refused", Html.number(policy.refusedKeys())},
                new String[] {"keys refused, share", Html.percent(policy.refusedKeys(), policy.keys())}));
        series("series-" + index, policy.series());
        keys(policy);
        demand(policy, index);
        LimitCurve curve = LimitCurve.of(data.curves(), policy.name());
        if (curve != null && curve.candidates().size() > 1) {
            curve(curve, index);
        }
        html.add("</section>\n");
    }

    private void series(String id, TimeSeries series) {
        html.element("h3", "Over time").add("<div class=\"chart\" id=\"" + id + "\"></div>\n");
        long[] admitted = series.admitted();
        long[] refused = series.refused();
        int step = (admitted.length + SHOWN_INTERVALS - 1) / SHOWN_INTERVALS;
        html.add("<details>\n").element("summary", "As a table");
        html.table("", "From, UTC", "admitted", "refused");
        for (int i = 0; i < admitted.length; i += step) {
            long sum = 0;
            long sumRefused = 0;
            for (int j = i; j < Math.min(admitted.length, i + step); j++) {
                sum += admitted[j];
                sumRefused += refused[j];
            }
            long start = (series.startSeconds() + i * series.widthSeconds()) * SECOND;
            html.row("", instant(start), Html.number(sum), Html.number(sumRefused));
        }
        html.endTable().add("</details>\n");
    }

    private void keys(PolicyStatistics policy) {
        List<KeyCount> most = policy.mostRefused(SHOWN_KEYS);
        if (most.isEmpty()) {
            return;
        }
        html.element("h3", "Refused most often")
                .table("", "Key", "refused", "requests", "share", "permits asked for in a period, at most");
        for (KeyCount key : most) {
            String text = data.keys().of(policy.name(), key.key());
            html.row(
                    "",
                    text.isEmpty() ? "all callers" : text,
                    Html.number(key.refused()),
                    Html.number(key.requests()),
                    Html.percent(key.refused(), key.requests()),
                    Html.number(key.peak()));
        }
        html.endTable();
    }

    private void demand(PolicyStatistics policy, int index) {
        DemandHistogram histogram = DemandHistogram.of(policy.demand());
        if (histogram.upTo().isEmpty()) {
            return;
        }
        html.element("h3", "What keys ask for")
                .element(
                        "p class=\"quiet\"",
                        "The most permits that each key asked for in " + period(policy.periodNanos())
                                + " of the clock; the dashed line is the limit, "
                                + Html.number(limitOf(data, policy.name())) + ".")
                .add("<div class=\"chart\" id=\"demand-" + index + "\"></div>\n<details>\n")
                .element("summary", "As a table")
                .table("", "Up to so many permits", "keys");
        for (int i = 0; i < histogram.upTo().size(); i++) {
            html.row(
                    "",
                    Html.number(histogram.upTo().get(i)),
                    Html.number(histogram.keys().get(i)));
        }
        html.endTable().add("</details>\n");
    }

    private void curve(LimitCurve curve, int index) {
        String id = "curve-" + index;
        html.element("h3", "Other limits")
                .element(
                        "p class=\"quiet\"",
                        "What this policy would do with other permits each period, on its own: without what other policies"
                                + " refuse.")
                .add("<div class=\"chart\" id=\"" + id + "\"></div>\n")
                .add("<label class=\"slider\">Permits each period <input type=\"range\" id=\"" + id
                        + "-slider\" min=\"0\" max=\"" + (curve.candidates().size() - 1) + "\" value=\"" + curve.now()
                        + "\"><output id=\"" + id + "-output\"></output></label>\n")
                .table(
                        id + "-table",
                        "Limit",
                        "keys refused",
                        "share",
                        "requests refused",
                        "share",
                        "permits admitted in a period, at most");
        for (int i = 0; i < curve.candidates().size(); i++) {
            Candidate candidate = curve.candidates().get(i);
            html.row(
                    i == curve.now() ? " class=\"now\"" : "",
                    candidate.text() + (i == curve.now() ? " (now)" : ""),
                    Html.number(candidate.touched()),
                    Html.percent(candidate.touched(), candidate.keys()),
                    Html.number(candidate.refused()),
                    Html.percent(candidate.refused(), candidate.requests()),
                    Html.number(candidate.peak()));
        }
        html.endTable();
    }

    private void leftOut() {
        data.limits()
                .leftOut()
                .forEach((policy, lack) -> html.element("h2", policy)
                        .element(
                                "p class=\"warning\"",
                                "Left out, because the log lacks " + String.join(", ", lack)
                                        + ". What it would decide is not known."));
    }

    private void notes() {
        if (!data.notes().isEmpty()) {
            html.element("h2", "To know").add("<ul class=\"notes\">\n");
            data.notes().forEach(note -> html.element("li", note + "."));
            html.add("</ul>\n");
        }
    }

    /** The permits of a policy's first limit; 0 if it is not known. */
    static long limitOf(ReportData data, String policy) {
        Rule rule = data.limits().rules().inForce().byPolicy().get(policy);
        return rule == null ? 0 : rule.policy().limits().get(0).rate().permits();
    }

    private static String period(long nanos) {
        String text = Rate.notation(Duration.ofNanos(nanos));
        return "each period of " + text;
    }

    private static String instant(long nanos) {
        return Instant.ofEpochSecond(Math.floorDiv(nanos, SECOND))
                .toString()
                .replace('T', ' ')
                .replace("Z", "")
                .toLowerCase(Locale.ROOT);
    }
}

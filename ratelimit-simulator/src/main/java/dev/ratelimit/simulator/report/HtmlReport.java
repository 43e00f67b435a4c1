package dev.ratelimit.simulator.report;

import com.samskivert.mustache.Mustache;
import dev.ratelimit.Rate;
import dev.ratelimit.simulator.statistics.KeyCount;
import dev.ratelimit.simulator.statistics.LimitCurve;
import dev.ratelimit.simulator.statistics.LimitCurve.Candidate;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.statistics.TimeSeries;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Writes a report: one HTML file with its data, charts and styles, which loads nothing. Its template is {@code report.html}. */
public final class HtmlReport {

    private static final int SHOWN_KEYS = 20;
    private static final int SHOWN_INTERVALS = 60;

    // what the template reads

    record Page(
            String title,
            @Nullable All all,
            List<PolicySection> policies,
            List<LeftOut> leftOut,
            List<String> notes,
            String styles,
            String license,
            String scripts,
            String data) {

        boolean toKnow() {
            return !notes.isEmpty();
        }
    }

    record All(
            ReplayStatistics statistics,
            String first,
            String last,
            long admitted,
            String share,
            List<String> unread,
            List<Interval> intervals) {}

    record Interval(String from, long admitted, long refused) {}

    record PolicySection(
            int index,
            PolicyStatistics statistics,
            String description,
            String refusal,
            String share,
            List<Interval> intervals,
            List<Key> keys,
            @Nullable Demand demand,
            @Nullable Curve curve) {

        boolean refused() {
            return !keys.isEmpty();
        }
    }

    record Key(String text, KeyCount count, String share) {}

    record Demand(String period, long limit, List<Bar> bars) {}

    record Bar(long upTo, long keys) {}

    record Curve(int now, int last, List<OtherLimit> limits) {}

    record OtherLimit(Candidate candidate, boolean current, String touchedShare, String refusedShare) {}

    record LeftOut(String policy, String lack) {}

    private final ReportData data;

    private HtmlReport(ReportData data) {
        this.data = data;
    }

    /** Writes the report. */
    public static void write(ReportData data, Writer out) throws IOException {
        Mustache.compiler()
                .zeroIsFalse(true)
                .withFormatter(value -> value instanceof Long number
                        ? String.format(Locale.ROOT, "%,d", number)
                        : String.valueOf(value))
                .withLoader(name -> new StringReader(resource(name)))
                .compile(resource("report.html"))
                .execute(new HtmlReport(data).page(), out);
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the resource " + name + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Page page() throws IOException {
        List<PolicySection> policies = new ArrayList<>();
        data.statistics().policies().forEach(policy -> policies.add(section(policies.size(), policy)));
        List<LeftOut> leftOut = new ArrayList<>();
        data.limits().leftOut().forEach((policy, lack) -> leftOut.add(new LeftOut(policy, String.join(", ", lack))));
        return new Page(
                data.title(),
                data.statistics().requests() == 0 ? null : all(data.statistics()),
                policies,
                leftOut,
                data.notes(),
                resource("uplot/uPlot.min.css") + resource("report.css"),
                resource("uplot/LICENSE"),
                resource("uplot/uPlot.iife.min.js") + "\n" + resource("report.js"),
                ChartData.of(data).json());
    }

    private All all(ReplayStatistics statistics) {
        return new All(
                statistics,
                instant(Math.floorDiv(statistics.firstNanos(), 1_000_000_000L)),
                instant(Math.floorDiv(statistics.lastNanos(), 1_000_000_000L)),
                statistics.requests() - statistics.refused(),
                percent(statistics.refused(), statistics.requests()),
                data.log().unread(),
                intervals(statistics.series()));
    }

    private PolicySection section(int index, PolicyStatistics policy) {
        Rule rule = data.limits().rules().inForce().byPolicy().get(policy.name());
        List<Key> keys = policy.mostRefused(SHOWN_KEYS).stream()
                .map(key -> key(policy, key))
                .toList();
        return new PolicySection(
                index,
                policy,
                rule == null ? "" : data.limits().asWritten(rule).describe(),
                rule != null && rule.shadow() ? "would refuse" : "refused",
                percent(policy.refusedKeys(), policy.keys()),
                intervals(policy.series()),
                keys,
                demand(policy),
                curve(LimitCurve.of(data.curves(), policy.name())));
    }

    private static List<Interval> intervals(TimeSeries series) {
        long[] admitted = series.admitted();
        long[] refused = series.refused();
        int step = (admitted.length + SHOWN_INTERVALS - 1) / SHOWN_INTERVALS;
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < admitted.length; i += step) {
            int end = Math.min(admitted.length, i + step);
            intervals.add(new Interval(
                    instant(series.startSeconds() + i * series.widthSeconds()),
                    IntStream.range(i, end).mapToLong(at -> admitted[at]).sum(),
                    IntStream.range(i, end).mapToLong(at -> refused[at]).sum()));
        }
        return intervals;
    }

    private Key key(PolicyStatistics policy, KeyCount key) {
        String text = data.keys().of(policy.name(), key.key());
        return new Key(text.isEmpty() ? "all callers" : text, key, percent(key.refused(), key.requests()));
    }

    private @Nullable Demand demand(PolicyStatistics policy) {
        DemandHistogram histogram = DemandHistogram.of(policy.demand());
        List<Bar> bars = IntStream.range(0, histogram.upTo().size())
                .mapToObj(i -> new Bar(histogram.upTo().get(i), histogram.keys().get(i)))
                .toList();
        String period = Rate.notation(Duration.ofNanos(policy.periodNanos()));
        return bars.isEmpty() ? null : new Demand(period, limitOf(data, policy.name()), bars);
    }

    private static @Nullable Curve curve(@Nullable LimitCurve curve) {
        if (curve == null || curve.candidates().size() < 2) {
            return null;
        }
        List<OtherLimit> limits = new ArrayList<>();
        for (Candidate candidate : curve.candidates()) {
            limits.add(new OtherLimit(
                    candidate,
                    limits.size() == curve.now(),
                    percent(candidate.touched(), candidate.keys()),
                    percent(candidate.refused(), candidate.requests())));
        }
        return new Curve(curve.now(), limits.size() - 1, limits);
    }

    /** The permits of a policy's first limit; 0 if it is not known. */
    static long limitOf(ReportData data, String policy) {
        Rule rule = data.limits().rules().inForce().byPolicy().get(policy);
        return rule == null ? 0 : rule.policy().limits().get(0).rate().permits();
    }

    private static String percent(long part, long whole) {
        return whole == 0 ? "0 %" : String.format(Locale.ROOT, "%.3g %%", 100.0 * part / whole);
    }

    private static String instant(long epochSecond) {
        return Instant.ofEpochSecond(epochSecond).toString().replace('T', ' ').replace("Z", "");
    }
}

package dev.ratelimit.simulator.report;

import dev.ratelimit.simulator.statistics.LimitCurve;
import dev.ratelimit.simulator.statistics.LimitCurve.Candidate;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.TimeSeries;
import java.io.StringWriter;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The data of the charts, as JSON that may be within HTML. */
final class ChartData {

    private final StringWriter text = new StringWriter();
    private final JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text);

    private ChartData() {}

    static String of(ReportData data) {
        ChartData charts = new ChartData();
        charts.json.writeStartObject();
        charts.series(data.statistics().series());
        charts.json.writeArrayPropertyStart("policies");
        for (PolicyStatistics policy : data.statistics().policies()) {
            charts.json.writeStartObject();
            charts.series(policy.series());
            charts.demand(policy, HtmlReport.limitOf(data, policy.name()));
            LimitCurve curve = LimitCurve.of(data.curves(), policy.name());
            charts.curve(curve);
            charts.json.writeEndObject();
        }
        charts.json.writeEndArray();
        charts.json.writeEndObject();
        charts.json.close();
        return charts.text.toString().replace("<", "\\u003c");
    }

    private void series(TimeSeries series) {
        json.writeObjectPropertyStart("series");
        json.writeStringProperty("width", width(series.widthSeconds()));
        long[] admitted = series.admitted();
        json.writeArrayPropertyStart("times");
        for (int i = 0; i < admitted.length; i++) {
            json.writeNumber(series.startSeconds() + i * series.widthSeconds());
        }
        json.writeEndArray();
        numbers("admitted", admitted);
        numbers("refused", series.refused());
        json.writeEndObject();
    }

    static String width(long seconds) {
        return seconds == 1 ? "second" : seconds + " seconds";
    }

    private void numbers(String name, long[] numbers) {
        json.writeArrayPropertyStart(name);
        for (long number : numbers) {
            json.writeNumber(number);
        }
        json.writeEndArray();
    }

    private void demand(PolicyStatistics policy, long limit) {
        DemandHistogram histogram = DemandHistogram.of(policy.demand());
        json.writeObjectPropertyStart("demand");
        json.writeNumberProperty("limit", limit);
        numbers("upTo", histogram.upTo().stream().mapToLong(Long::longValue).toArray());
        numbers("keys", histogram.keys().stream().mapToLong(Long::longValue).toArray());
        json.writeEndObject();
    }

    private void curve(@Nullable LimitCurve curve) {
        if (curve == null || curve.candidates().size() < 2) {
            json.writeNullProperty("curve");
            return;
        }
        json.writeObjectPropertyStart("curve");
        json.writeNumberProperty("now", curve.now());
        json.writeArrayPropertyStart("limits");
        curve.candidates().forEach(candidate -> json.writeString(candidate.text()));
        json.writeEndArray();
        candidates("permits", curve, Candidate::permits);
        shares("touched", curve, candidate -> share(candidate.touched(), candidate.keys()));
        shares("refused", curve, candidate -> share(candidate.refused(), candidate.requests()));
        candidates("peak", curve, Candidate::peak);
        json.writeEndObject();
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : Math.round(1e6 * part / whole) / 1e4;
    }

    private void candidates(String name, LimitCurve curve, ToLongFunction<Candidate> value) {
        numbers(name, curve.candidates().stream().mapToLong(value).toArray());
    }

    private void shares(String name, LimitCurve curve, ToDoubleFunction<Candidate> value) {
        json.writeArrayPropertyStart(name);
        curve.candidates().forEach(candidate -> json.writeNumber(value.applyAsDouble(candidate)));
        json.writeEndArray();
    }
}

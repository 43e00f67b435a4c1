package dev.ratelimit.simulator.report;

import dev.ratelimit.simulator.statistics.LimitCurve;
import dev.ratelimit.simulator.statistics.LimitCurve.Candidate;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.TimeSeries;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The data of the charts, which {@code report.js} draws. */
record ChartData(Series series, List<PolicyCharts> policies) {

    record Series(String width, List<Long> times, List<Long> admitted, List<Long> refused) {

        static Series of(TimeSeries series) {
            long[] admitted = series.admitted();
            long width = series.widthSeconds();
            return new Series(
                    width == 1 ? "second" : width + " seconds",
                    LongStream.range(0, admitted.length)
                            .map(i -> series.startSeconds() + i * width)
                            .boxed()
                            .toList(),
                    LongStream.of(admitted).boxed().toList(),
                    LongStream.of(series.refused()).boxed().toList());
        }
    }

    record PolicyCharts(
            Series series, Demand demand, @Nullable Curve curve) {}

    record Demand(long limit, List<Long> upTo, List<Long> keys) {}

    record Curve(
            int now,
            List<String> limits,
            List<Long> permits,
            List<Double> touched,
            List<Double> refused,
            List<Long> peak) {

        static @Nullable Curve of(@Nullable LimitCurve curve) {
            if (curve == null || curve.candidates().size() < 2) {
                return null;
            }
            List<Candidate> all = curve.candidates();
            return new Curve(
                    curve.now(),
                    all.stream().map(Candidate::text).toList(),
                    all.stream().map(Candidate::permits).toList(),
                    all.stream().map(one -> share(one.touched(), one.keys())).toList(),
                    all.stream()
                            .map(one -> share(one.refused(), one.requests()))
                            .toList(),
                    all.stream().map(Candidate::peak).toList());
        }

        private static double share(long part, long whole) {
            return whole == 0 ? 0 : Math.round(1e6 * part / whole) / 1e4;
        }
    }

    static ChartData of(ReportData data) {
        return new ChartData(
                Series.of(data.statistics().series()),
                data.statistics().policies().stream()
                        .map(policy -> charts(data, policy))
                        .toList());
    }

    private static PolicyCharts charts(ReportData data, PolicyStatistics policy) {
        DemandHistogram histogram = DemandHistogram.of(policy.demand());
        return new PolicyCharts(
                Series.of(policy.series()),
                new Demand(HtmlReport.limitOf(data, policy.name()), histogram.upTo(), histogram.keys()),
                Curve.of(LimitCurve.of(data.curves(), policy.name())));
    }

    /** As JSON that may be within HTML. */
    String json() {
        return JsonMapper.shared().writeValueAsString(this).replace("<", "\\u003c");
    }
}

package dev.ratelimit.simulator.report;

import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.statistics.LimitCurve;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.LogSummary;
import java.util.List;

/**
 * What a report shows.
 *
 * @param title of the report
 * @param limits which were tried out
 * @param log what was read
 * @param statistics what the limits did
 * @param curves what other limits would do
 * @param notes what a reader must know
 * @param keys shows keys
 */
public record ReportData(
        String title,
        SimulatedLimits limits,
        LogSummary log,
        ReplayStatistics statistics,
        List<LimitCurve> curves,
        List<String> notes,
        KeyText keys) {}

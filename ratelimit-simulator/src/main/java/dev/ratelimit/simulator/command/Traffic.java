package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LogOptions;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.simulator.traffic.NamedFile;
import java.io.IOException;
import java.util.List;
import org.springframework.core.env.Environment;

/**
 * Logs and the limits that are tried out on them.
 *
 * @param files the logs
 * @param options how they are read
 * @param log what was found in them
 * @param limits without the policies that the logs lack something for
 * @param stages whether Spring Security runs
 */
record Traffic(List<NamedFile> files, LogOptions options, LogSummary log, SimulatedLimits limits, boolean stages) {

    /** Reads limits, and the logs, to know what they have. */
    static Traffic of(ConfigurationSource source, LimitInput input, LogInput logs) throws IOException {
        Environment environment = source.environment();
        SimulatedLimits written =
                SimulatedLimits.of(source, logs.endpoints(SimulatedLimits.managementPath(environment)));
        LogOptions options =
                logs.options(SimulatedLimits.contextPath(environment)).withHeaders(written.headers());
        List<NamedFile> files = logs.files();
        LogSummary log = AccessLog.survey(files, options);
        SimulatedLimits limits =
                written.on(log, logs.namesUsers(), input.included).requirePolicies(source);
        input.checkIncluded(limits);
        return new Traffic(files, options, log, limits, input.security || log.hasStages());
    }

    /** The same logs under other limits. */
    Traffic under(SimulatedLimits others) {
        return new Traffic(files, options, log, others, stages);
    }

    /** Other logs under the same limits, such as those of another day. */
    Traffic of(List<NamedFile> others) throws IOException {
        return new Traffic(others, options, AccessLog.survey(others, options), limits, stages);
    }

    /** Opens the logs at their beginning. */
    AccessLog open() throws IOException {
        return AccessLog.open(files, options);
    }

    void replay(List<? extends ReplayObserver> observers) throws IOException {
        try (AccessLog opened = open()) {
            new Replay(limits, stages, List.copyOf(observers)).run(opened);
        }
    }
}

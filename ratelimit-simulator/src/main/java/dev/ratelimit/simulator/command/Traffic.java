package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LogOptions;
import java.io.IOException;
import java.util.List;
import org.springframework.core.env.Environment;

/**
 * An open log and the limits that are tried out on it.
 *
 * @param log which is open
 * @param options how it is read
 * @param limits without the policies that the log lacks something for
 * @param stages whether Spring Security runs
 */
record Traffic(
        AccessLog log,
        LogOptions options,
        SimulatedLimits limits,
        boolean stages)
        implements AutoCloseable {

    static Traffic open(ConfigurationSource source, LimitInput limits, LogInput input)
            throws IOException {
        Environment environment = source.environment();
        LogEndpoints endpoints = input.endpoints(SimulatedLimits.managementPath(environment));
        SimulatedLimits written = SimulatedLimits.of(source, endpoints);
        LogOptions options =
                input.options(SimulatedLimits.contextPath(environment)).withHeaders(written.headers());
        AccessLog log = input.open(options);
        try {
            SimulatedLimits simulated =
                    written.on(log, input.namesUsers(), limits.included).requirePolicies(source);
            boolean stages = limits.security || log.summary().hasStages();
            return new Traffic(log, options, simulated, stages);
        } catch (IOException | RuntimeException | Error e) {
            log.close();
            throw e;
        }
    }

    void run(List<ReplayObserver> observers) throws IOException {
        new Replay(limits, stages, observers).run(log);
    }

    @Override
    public void close() throws IOException {
        log.close();
    }
}

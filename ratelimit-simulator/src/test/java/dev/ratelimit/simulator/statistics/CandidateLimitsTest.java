package dev.ratelimit.simulator.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.Field;
import dev.ratelimit.simulator.traffic.FieldMapping;
import dev.ratelimit.simulator.traffic.LogOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CandidateLimitsTest {

    private static final Instant START = Instant.parse("2026-11-23T08:00:00Z");

    /** Requests of three clients, some of which fail, and which last up to two seconds. */
    private static String log() {
        Random random = new Random(1);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            lines.append("{\"time\":\"")
                    .append(START.plusMillis(i * 300L))
                    .append("\",\"remote_addr\":\"10.0.0.")
                    .append(random.nextInt(3))
                    .append("\",\"method\":\"POST\",\"path\":\"/login\",\"status\":")
                    .append(random.nextInt(3) == 0 ? 401 : 200)
                    .append(",\"ms\":")
                    .append(random.nextInt(3) * 1_000)
                    .append("}\n");
        }
        return lines.toString();
    }

    @ParameterizedTest
    @CsvSource({"count, 401", "free, 2xx", "algorithm, sliding-log"})
    void limitOfNow_doesWhatTheReplayDoes(String option, String value) throws IOException {
        LogEndpoints endpoints = new LogEndpoints(List.of(), "");
        SimulatedLimits limits = SimulatedLimits.of(
                ConfigurationSource.of(Map.of(
                        "ratelimit.policies.login.limit",
                        "10/minute",
                        "ratelimit.policies.login.key",
                        "ip",
                        "ratelimit.policies.login." + option,
                        value)),
                endpoints);
        ReplayStatistics statistics = new ReplayStatistics(limits.rules().policiesInForce());
        CandidateLimits candidates = new CandidateLimits(limits);
        FieldMapping mapping = FieldMapping.USUAL_NAMES.with(Field.Kind.DURATION, "", "ms");
        LogOptions options = new LogOptions(null, mapping, ZoneOffset.UTC, TimeUnit.MILLISECONDS, false, "", null, 100);

        new Replay(limits, false, List.of(statistics, candidates))
                .run(AccessLog.of(new ByteArrayInputStream(log().getBytes(StandardCharsets.UTF_8)), options));

        PolicyStatistics replayed = statistics.policies().iterator().next();
        LimitCurve curve = candidates.curves().get(0);
        LimitCurve.Candidate now = curve.candidates().get(curve.now());
        assertThat(now.refused()).isEqualTo(replayed.refused()).isPositive();
        assertThat(now.requests()).isEqualTo(replayed.requests());
        assertThat(now.keys()).isEqualTo(replayed.keys());
        assertThat(now.touched()).isEqualTo(replayed.refusedKeys());
    }
}

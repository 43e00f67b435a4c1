package dev.ratelimit.benchmarks.simulator;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.replay.Replay;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LogOptions;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Requests per second of the simulator on one core, through three policies: global, per endpoint, and per user and
 * endpoint. {@code decisions} replays requests from memory; {@code log} also reads them from lines in the combined format,
 * and keeps statistics.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@OperationsPerInvocation(ReplayBenchmark.REQUESTS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class ReplayBenchmark {

    static final int REQUESTS = 500_000;
    private static final int CLIENTS = 10_000;

    private final LogEndpoints endpoints = new LogEndpoints(
            Stream.of("/api/products/{id}", "/api/orders")
                    .map(PathPatternParser.defaultInstance::parse)
                    .map(pattern -> new LogEndpoints.Route(Set.of("GET"), pattern))
                    .toList(),
            "");
    private byte[] log = {};
    private List<LoggedRequest> requests = List.of();
    private @Nullable SimulatedLimits limits;

    /** Writes and reads the log. */
    @Setup
    public void write() throws IOException {
        Random random = new Random(1);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < REQUESTS; i++) {
            int client = (int) (random.nextDouble() * random.nextDouble() * CLIENTS);
            int second = i / 1_000;
            String path =
                    random.nextInt(3) > 0 ? "/api/products/" + random.nextInt(500) : "/api/orders?page=" + client % 9;
            lines.append(
                    "10.0.%d.%d - %s [27/Nov/2026:12:%02d:%02d +0000] \"GET %s HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0\"\n"
                            .formatted(
                                    client >> 8,
                                    client & 255,
                                    client % 3 == 0 ? "user" + client : "-",
                                    second / 60,
                                    second % 60,
                                    path));
        }
        log = lines.toString().getBytes(StandardCharsets.UTF_8);
        limits = SimulatedLimits.of(
                ConfigurationSource.of(Map.of(
                        "ratelimit.policies.global.limit", "100000/minute",
                        "ratelimit.policies.per-endpoint.limit", "80000/minute",
                        "ratelimit.policies.per-endpoint.key", "endpoint",
                        "ratelimit.policies.per-user.limit", "20/minute",
                        "ratelimit.policies.per-user.key", "user, endpoint")),
                endpoints);
        requests = new ArrayList<>();
        try (AccessLog read = open()) {
            for (LoggedRequest request = read.next(); request != null; request = read.next()) {
                requests.add(request);
            }
        }
    }

    private AccessLog open() throws IOException {
        return AccessLog.of(new ByteArrayInputStream(log), LogOptions.DEFAULT.withHeaders(Set.of("origin")));
    }

    private SimulatedLimits limits() {
        return Objects.requireNonNull(limits);
    }

    /** Requests from memory. */
    @Benchmark
    public void decisions() {
        Replay replay = new Replay(limits(), false, List.of());
        for (LoggedRequest request : requests) {
            replay.accept(request);
        }
        replay.end();
    }

    /** Lines of a log. */
    @Benchmark
    public long log() throws IOException {
        ReplayStatistics statistics = new ReplayStatistics(limits().rules().policiesInForce());
        try (AccessLog read = open()) {
            new Replay(limits(), false, List.of(statistics)).run(read);
        }
        return statistics.refused();
    }
}

package dev.ratelimit.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulationTest {

    private static final String LINE = "%s - %s [27/Nov/2026:12:00:00 +0000] \"GET /app/orders HTTP/1.1\" 200 10%n";

    @TempDir
    Path directory;

    private Path config;
    private Path log;

    @BeforeEach
    void write() throws IOException {
        config = Files.writeString(directory.resolve("application.yml"), """
                server.servlet.context-path: /app
                ratelimit:
                  policies:
                    orders: {key: user, limit: 2/minute, match: {paths: /orders}}
                """);
        log = Files.writeString(
                directory.resolve("access.log"),
                LINE.formatted("10.0.0.1", "ann")
                        + LINE.formatted("10.0.0.2", "ann")
                        + LINE.formatted("10.0.0.3", "bob"));
    }

    @Test
    void configuration_thatRefusesNobody() throws IOException {
        SimulationResult result = Simulation.of(config).replay(log);

        assertThat(result.refused()).isZero();
        assertThat(result.requests()).isEqualTo(3);
        assertThat(result.policy("orders").admitted()).isEqualTo(3);
        assertThat(result.leftOut()).isEmpty();
    }

    @Test
    void configuration_thatRefusesSomebody() throws IOException {
        SimulationResult result = Simulation.of(config)
                .property("ratelimit.policies.orders.limit", "1/minute")
                .replay(log);

        assertThat(result.refused()).isEqualTo(1);
        assertThat(result.policy("orders").refusedKeys()).containsExactly("ann");
    }

    @Test
    void policiesByUser_areTheSameInStages() throws IOException {
        SimulationResult result = Simulation.of(config)
                .property("ratelimit.policies.orders.limit", "1/minute")
                .withSecurity()
                .replay(log);

        assertThat(result.policy("orders").refusedKeys()).containsExactly("ann");
    }

    @Test
    void logWithoutUsers_leavesThePolicyOut() throws IOException {
        Path anonymous = Files.writeString(directory.resolve("anonymous.log"), LINE.formatted("10.0.0.1", "-"));

        SimulationResult result = Simulation.of(config).replay(anonymous);

        assertThat(result.leftOut()).containsOnlyKeys("orders");
        assertThat(result.policies()).isEmpty();
        assertThatThrownBy(() -> result.policy("orders")).hasMessageContaining("the log lacks the caller's name");
        assertThatThrownBy(() -> result.policy("order")).hasMessageContaining("there is no policy 'order' in force");
    }

    @Test
    void wrongConfiguration_failsAsAStartDoes() {
        Simulation wrong = Simulation.of(config).property("ratelimit.policies.orders.limit", "10");

        assertThatThrownBy(() -> wrong.replay(log)).hasMessageContaining("'10' has no period");
    }
}

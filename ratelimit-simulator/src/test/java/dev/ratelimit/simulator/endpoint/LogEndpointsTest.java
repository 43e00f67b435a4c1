package dev.ratelimit.simulator.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LogOptions;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogEndpointsTest {

    @TempDir
    Path directory;

    private static LoggedRequest request(String method, String path) throws IOException {
        String line = "{\"time\":1,\"method\":\"" + method + "\",\"path\":\"" + path + "\"}\n";
        try (AccessLog log =
                AccessLog.of(new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)), LogOptions.DEFAULT)) {
            return Objects.requireNonNull(log.next());
        }
    }

    @Test
    void recording_hasTheEndpointsInPlaceOfPaths() throws IOException {
        LogEndpoints endpoints = new LogEndpoints(List.of(), "/actuator").ofRecording();

        assertThat(endpoints.resolve(request("GET", "/orders/{id}")).id()).isEqualTo("GET /orders/{id}");
        assertThat(endpoints.resolve(request("POST", "/")).id()).isEqualTo("POST /");
        assertThat(endpoints.resolve(request("GET", "/actuator/{*path}")).isManagement())
                .isTrue();
    }

    @Test
    void list_hasTheEndpoints_mostSpecificFirst() throws IOException {
        Path file = Files.writeString(
                directory.resolve("endpoints"), "# ours\nGET,POST /orders/{id}\nGET /orders/new\n\n/static/**\n");
        LogEndpoints endpoints = new LogEndpoints(KnownEndpoints.list(file), "/actuator");

        assertThat(endpoints.resolve(request("GET", "/orders/new")).id()).isEqualTo("GET /orders/new");
        assertThat(endpoints.resolve(request("HEAD", "/orders/7")).id()).isEqualTo("GET,POST /orders/{id}");
        assertThat(endpoints.resolve(request("DELETE", "/orders/7")).id()).isEqualTo("GET,POST /orders/{id}");
        assertThat(endpoints.resolve(request("GET", "/static/a/b")).id()).isEqualTo("ANY /static/**");
        assertThat(endpoints.resolve(request("GET", "/none")).id()).isEqualTo("nowhere");
        assertThat(endpoints.resolve(request("GET", "/actuator/health")).isManagement())
                .isTrue();
    }

    @Test
    void otherFiles_areSaidToBe() throws IOException {
        Path list = Files.writeString(directory.resolve("endpoints"), "GET /a\nFETCH /b\n");

        assertThatThrownBy(() -> KnownEndpoints.list(list)).hasMessageContaining("line 2: 'FETCH /b' is no endpoint");
    }
}

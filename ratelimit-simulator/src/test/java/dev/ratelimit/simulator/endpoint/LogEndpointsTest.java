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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({
        "/orders/17, GET /orders/{id}",
        "/orders/17/lines/3, GET /orders/{id}/lines/{id2}",
        "/u/6f1c2d3e-aaaa-bbbb-cccc-000011112222, GET /u/{id}",
        "/c/deadbeef01, GET /c/{id}",
        "/m/ann@example.org, GET /m/{id}",
        "/orders, GET /orders",
        "/facade, GET /facade",
        "/, GET /",
        "/a{b, GET /a-b"
    })
    void unknownEndpoints_areLearnedFromPaths(String path, String endpoint) throws IOException {
        LogEndpoints endpoints = new LogEndpoints(List.of(), "/actuator");

        assertThat(endpoints.resolve(request("GET", path)).id()).isEqualTo(endpoint);
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
    void openApi_hasTheEndpoints() throws IOException {
        Path file = Files.writeString(
                directory.resolve("api.json"),
                "{\"openapi\":\"3.1.0\",\"paths\":{\"/orders/{id}\":{\"get\":{},\"parameters\":[]}}}");
        LogEndpoints endpoints = new LogEndpoints(KnownEndpoints.openApi(file), "");

        assertThat(endpoints.resolve(request("GET", "/orders/7")).id()).isEqualTo("GET /orders/{id}");
    }

    @Test
    void otherFiles_areSaidToBe() throws IOException {
        Path list = Files.writeString(directory.resolve("endpoints"), "GET /a\nFETCH /b\n");
        Path api = Files.writeString(directory.resolve("api.yml"), "a: [1\n");

        assertThatThrownBy(() -> KnownEndpoints.list(list)).hasMessageContaining("line 2: 'FETCH /b' is no endpoint");
        assertThatThrownBy(() -> KnownEndpoints.openApi(api)).hasMessageContaining("api.yml cannot be read");
    }
}

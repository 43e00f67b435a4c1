package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Uses the actuator endpoint {@code ratelimits} of an application as a person would. */
public record ActuatorClient(RunningApp app, List<String> headers) {

    public ActuatorClient(RunningApp app, String... headers) {
        this(app, List.of(headers));
    }

    /** An answer: the status and the JSON in the body. */
    public record Answer(int status, String type, String body) {

        public JsonNode json() {
            return JsonMapper.shared().readTree(body);
        }
    }

    public Answer get(String path) {
        return send("GET", path, "");
    }

    public Answer delete(String path) {
        return send("DELETE", path, "");
    }

    public Answer post(String path, Object body) {
        return send("POST", path, JsonMapper.shared().writeValueAsString(body));
    }

    Answer explain(Map<String, String> facts, String more) {
        return get("/explain?"
                + facts.entrySet().stream()
                        .map(fact -> fact.getKey() + "=" + encoded(fact.getValue()))
                        .collect(Collectors.joining("&"))
                + more);
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private Answer send(String method, String path, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + app.client().port() + "/actuator/ratelimits" + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        if (!headers.isEmpty()) {
            request.headers(headers.toArray(String[]::new));
        }
        try {
            HttpResponse<String> response =
                    HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type").orElse(""),
                    response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Starts the application in a process of its own: it limits requests, or it says why it does not start. */
@Timeout(120)
class ApplicationTest {

    private static final Pattern PORT = Pattern.compile("started on port (\\d+)");

    @Test
    void application_limits_orSaysWhyItDoesNotStart() throws Exception {
        String expected = System.getProperty("expected");
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "com.example.Application",
                        "--server.port=0",
                        "--server.address=127.0.0.1")
                .redirectErrorStream(true)
                .start();
        try (Scanner output = new Scanner(process.getInputStream(), StandardCharsets.UTF_8)) {
            StringBuilder log = new StringBuilder();
            while (output.hasNextLine()) {
                log.append(output.nextLine()).append('\n');
                Matcher port = PORT.matcher(log);
                if (port.find()) {
                    assertThat(expected).as("%s", log).isEqualTo("limits");
                    assertLimits(port.group(1));
                    return;
                }
            }
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isNotZero();
            assertThat(log.toString().replaceAll("\\s+", " ")).contains("APPLICATION FAILED TO START", expected);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void assertLimits(String port) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/hello")).build();
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("hello");
        }

        HttpResponse<String> refused = client.send(request, HttpResponse.BodyHandlers.ofString());

        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0)).isBetween(1L, 21L);
    }
}

package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sample with code generated ahead of time, as {@code process-aot} does, in a JVM of its own. */
@Tag("slow")
class AheadOfTimeTest {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    /** Without the tests, whose beans are none of the application's. */
    private static final String CLASS_PATH = Stream.of(
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                            .split(File.pathSeparator))
            .filter(entry -> !entry.endsWith("test-classes"))
            .collect(Collectors.joining(File.pathSeparator));

    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    private Path generated;

    private Process java(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .directory(generated.toFile())
                .start();
    }

    private void generate() throws IOException, InterruptedException {
        Process processor = java(
                "-cp",
                CLASS_PATH,
                "org.springframework.boot.SpringApplicationAotProcessor",
                SampleApplication.class.getName(),
                generated.resolve("sources").toString(),
                generated.resolve("classes").toString(),
                generated.resolve("classes").toString(),
                "dev.ratelimit",
                "sample-app");
        String output = new String(processor.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(processor.waitFor()).as(output).isZero();
    }

    private void compile() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        try (Stream<Path> sources = Files.walk(generated.resolve("sources"));
                StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> written =
                    sources.filter(file -> file.toString().endsWith(".java")).toList();
            List<String> options = List.of(
                    "-proc:none",
                    "-cp",
                    generated.resolve("classes") + File.pathSeparator + CLASS_PATH,
                    "-d",
                    generated.resolve("classes").toString());
            assertThat(compiler.getTask(errors, null, null, options, null, files.getJavaFileObjectsFromPaths(written))
                            .call())
                    .as(errors::toString)
                    .isTrue();
        }
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void sample_limitsAsItDoesWithoutGeneratedCode() throws IOException, InterruptedException {
        generate();
        compile();
        Process app = java(
                "-Dspring.aot.enabled=true",
                "-cp",
                generated.resolve("classes") + File.pathSeparator + CLASS_PATH,
                SampleApplication.class.getName(),
                "--server.port=0");
        try (BufferedReader output = app.inputReader()) {
            List<String> log = new ArrayList<>();
            String address = "http://127.0.0.1:" + port(output, log);

            assertThat(log).anyMatch(line -> line.contains("Starting AOT-processed SampleApplication"));
            for (int i = 0; i < 6; i++) {
                HttpRequest.Builder login = HttpRequest.newBuilder(URI.create(address + "/api/login"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString("user=alice&password=guess"));
                assertThat(send(login).statusCode()).isEqualTo(i < 5 ? 401 : 429);
            }
            HttpResponse<String> product = send(HttpRequest.newBuilder(URI.create(address + "/api/products/1")));
            assertThat(product.headers().firstValue("RateLimit-Policy")).contains("\"per-user\";q=800;w=80");
            HttpResponse<String> endpoint = send(HttpRequest.newBuilder(URI.create(address + "/actuator/ratelimits")));
            assertThat(endpoint.body()).contains("\"per-user\"", "\"exports\"");
        } finally {
            app.destroy();
            app.waitFor();
        }
    }

    private static String port(BufferedReader output, List<String> log) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            log.add(line);
            Matcher started = PORT.matcher(line);
            if (started.find()) {
                return Objects.requireNonNull(started.group(1));
            }
        }
        throw new AssertionError("the application did not start:\n" + String.join("\n", log));
    }
}

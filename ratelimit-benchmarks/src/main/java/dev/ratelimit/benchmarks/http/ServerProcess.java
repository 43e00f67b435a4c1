package dev.ratelimit.benchmarks.http;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A server in a separate JVM, on a free port of 127.0.0.1. */
final class ServerProcess implements AutoCloseable {

    private final Process process;
    private final int port;

    private ServerProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Waits until the server listens. */
    static ServerProcess start(String module, String profiles, Map<String, Object> properties) {
        Path jar = Path.of(module, "target", "server.jar");
        if (!Files.isReadable(jar)) {
            throw new IllegalStateException(
                    jar + " is missing: package " + module + ", and start this in the folder above it");
        }
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(
                java,
                "-Xms512m",
                "-Xmx512m",
                "-XX:+UseG1GC",
                "-jar",
                jar.toString(),
                "--spring.profiles.active=" + profiles));
        properties.forEach((name, value) -> command.add("--" + name + "=" + value));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new ServerProcess(process, port(process));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int port(Process process) throws IOException {
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("port ")) {
                return Integer.parseInt(line.substring("port ".length()));
            }
            System.err.println(line);
        }
        throw new IllegalStateException("the server did not start");
    }

    int port() {
        return port;
    }

    Duration cpuTime() {
        return process.toHandle()
                .info()
                .totalCpuDuration()
                .orElseThrow(() -> new IllegalStateException("this system does not tell the CPU time of a process"));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}

package dev.ratelimit.redis.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The server program: the one in the system property {@code redis.executable} (such as Valkey), or else one that comes
 * with the tests, or else {@code redis-server} or {@code valkey-server} on the path.
 */
final class RedisExecutable {

    private static final Optional<Path> FOUND = find();

    private RedisExecutable() {}

    /** The first of them that runs here. */
    static Optional<Path> found() {
        return FOUND;
    }

    private static Optional<Path> find() {
        String named = System.getProperty("redis.executable");
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        return Stream.concat(bundled(), onPath()).filter(RedisExecutable::runs).findFirst();
    }

    private static Stream<Path> bundled() {
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        boolean arm = arch.contains("aarch64") || arch.contains("arm64");
        boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac");
        Stream<String> names = mac
                ? Stream.of("redis-server-6.2.6-v5-darwin-" + (arm ? "arm64" : "amd64"))
                : arm
                        ? Stream.of("redis-server-6.2.7-linux-arm64")
                        : Stream.of("redis-server-6.2.6-v5-linux-amd64", "redis-server-6.2.7-linux-386");
        return names.flatMap(name -> extract(name).stream());
    }

    private static Optional<Path> extract(String name) {
        try (InputStream resource = RedisExecutable.class.getResourceAsStream("/" + name)) {
            if (resource == null) {
                return Optional.empty();
            }
            Path directory = Files.createTempDirectory("redis");
            directory.toFile().deleteOnExit();
            Path file = directory.resolve(name);
            Files.copy(resource, file);
            file.toFile().deleteOnExit();
            return file.toFile().setExecutable(true) ? Optional.of(file) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> onPath() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(java.io.File.pathSeparator))
                .filter(directory -> !directory.isEmpty())
                .flatMap(
                        directory -> Stream.of(Path.of(directory, "redis-server"), Path.of(directory, "valkey-server")))
                .filter(Files::isExecutable);
    }

    private static boolean runs(Path program) {
        try {
            Process process = new ProcessBuilder(program.toString(), "--version")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

package dev.ratelimit.redis.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A server process on a free port of 127.0.0.1, with nothing saved to disk. Where no server can run, {@link #start} skips
 * the test with the reason; {@code -Dredis.required=true} makes that a failure.
 */
public final class RedisServer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final int port;
    private final List<String> options;
    private Process process;

    private RedisServer(int port, List<String> options) {
        this.port = port;
        this.options = options;
        this.process = launch();
    }

    /** Starts a server with these further options, such as {@code "--maxmemory", "2mb"}. */
    public static RedisServer start(String... options) {
        return startOn(freePort(), options);
    }

    /** Starts a server on this port. */
    public static RedisServer startOn(int port, String... options) {
        boolean available = RedisExecutable.found().isPresent();
        if (!available && Boolean.getBoolean("redis.required")) {
            throw new IllegalStateException("no redis-server runs here, and redis.required is set");
        }
        assumeTrue(available, "no redis-server runs here: set -Dredis.executable, or put redis-server on the path");
        return new RedisServer(port, List.of(options));
    }

    /** The port that it listens on. */
    public int port() {
        return port;
    }

    /** Where clients connect. */
    public RedisURI uri() {
        return RedisURI.create("127.0.0.1", port);
    }

    /** Asks the server on a connection of its own, made for this. */
    public <T> T ask(Function<RedisCommands<String, String>, T> question) {
        RedisClient client = RedisClient.create(uri());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return question.apply(connection.sync());
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    /** Ends the process without a chance to say goodbye, as {@code kill -9} does. */
    public void kill() {
        process.destroyForcibly();
        await(process);
    }

    /** Stops the process where it stands; its connections stay open, and answer nothing. */
    public void pause() {
        signal("-STOP");
    }

    /** Lets a paused process go on. */
    public void resume() {
        signal("-CONT");
    }

    /** Starts it again, empty, on the same port with the same options. */
    public void restart() {
        kill();
        process = launch();
    }

    @Override
    public void close() {
        kill();
    }

    private Process launch() {
        Path program = RedisExecutable.found().orElseThrow();
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no",
                "--loglevel",
                "warning"));
        command.addAll(options);
        try {
            Path directory = Files.createTempDirectory("redis-" + port + "-");
            directory.toFile().deleteOnExit();
            Process started = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
            awaitPort(started);
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitPort(Process started) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!listens()) {
            if (!started.isAlive() || System.nanoTime() - deadline > 0) {
                started.destroyForcibly();
                throw new IllegalStateException("redis-server did not come up on port " + port + " with " + options);
            }
            Thread.onSpinWait();
        }
    }

    private boolean listens() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 200);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void signal(String signal) {
        try {
            await(new ProcessBuilder("kill", signal, Long.toString(process.pid())).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(Process process) {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + process.pid() + " does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a server was to end", e);
        }
    }

    /** A port that is free now; at most 55535, since a cluster's bus is 10000 above. */
    static int freePort() {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (socket.getLocalPort() <= 55_535) {
                    return socket.getLocalPort();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

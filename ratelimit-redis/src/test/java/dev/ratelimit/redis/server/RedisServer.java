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
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server process on a free port of 127.0.0.1 that saves nothing to disk. If no server can run, {@link #start} skips
 * the test with the reason; with {@code -Dredis.required=true} that is a failure.
 */
public final class RedisServer implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final String HOST = "127.0.0.1";
    private static final long POLL_NANOS = 1_000_000;

    /** The ports that this JVM has used, with the locked file of each. */
    private static final Map<Integer, FileChannel> RESERVED = new HashMap<>();

    private final int port;
    private final List<String> options;
    private final Path directory;
    private final Path configuration;
    private final List<RedisClient> clients = new CopyOnWriteArrayList<>();
    private Process process;
    private @Nullable RedisCommands<String, String> commands;

    private RedisServer(int port, List<String> configuration, List<String> options) {
        this.port = port;
        this.options = options;
        try {
            this.directory = Files.createTempDirectory("redis-" + port + "-");
            this.configuration = Files.write(directory.resolve("redis.conf"), configuration);
            this.process = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a server with additional options, such as {@code "--maxmemory", "2mb"}. */
    public static RedisServer start(String... options) {
        return startOn(freePort(), options);
    }

    /** Starts a server on this port. */
    public static RedisServer startOn(int port, String... options) {
        return start(port, List.of(), options);
    }

    /** Starts a server with these lines as its configuration file, which it may write to, as a sentinel must. */
    public static RedisServer startWith(List<String> configuration, String... options) {
        return start(freePort(), configuration, options);
    }

    private static RedisServer start(int port, List<String> configuration, String... options) {
        boolean available = RedisExecutable.found().isPresent();
        if (!available && Boolean.getBoolean("redis.required")) {
            throw new IllegalStateException("no redis-server runs here, and redis.required is set");
        }
        assumeTrue(available, "no redis-server runs here: set -Dredis.executable, or put redis-server on the path");
        return new RedisServer(port, configuration, List.of(options));
    }

    /** The port that it listens on. */
    public int port() {
        return port;
    }

    /** Where clients connect. */
    public RedisURI uri() {
        return RedisURI.create(HOST, port);
    }

    /** Where it would save its keys. */
    public Path directory() {
        return directory;
    }

    /** A client of this server, which lasts as long: one that is left behind would reconnect for ever. */
    public RedisClient newClient() {
        RedisClient client = RedisClient.create(uri());
        clients.add(client);
        return client;
    }

    /** Commands on one connection, which lasts as long as the server. */
    public synchronized RedisCommands<String, String> commands() {
        if (commands == null) {
            commands = newClient().connect().sync();
        }
        return commands;
    }

    /** Sends a command on a new connection. */
    public <T> T ask(Function<RedisCommands<String, String>, T> question) {
        RedisClient client = RedisClient.create(uri());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return question.apply(connection.sync());
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    /** Kills the process, as {@code kill -9} does. */
    public void kill() {
        process.destroyForcibly();
        await(process);
    }

    /** Pauses the process; its connections stay open but get no answers. */
    public void pause() {
        signal("-STOP");
    }

    /** Resumes a paused process. */
    public void resume() {
        signal("-CONT");
    }

    /**
     * Restarts the server without its keys, unless it has an append-only file, on the same port with the same options. A
     * node of a cluster and a sentinel keep their knowledge in the server's directory.
     */
    public void restart() {
        kill();
        try {
            process = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Shuts down its clients, kills the process, and deletes its directory. */
    @Override
    public void close() {
        clients.forEach(client -> client.shutdown(0, 0, TimeUnit.SECONDS));
        clients.clear();
        kill();
        try (Stream<Path> files = Files.walk(directory)) {
            // what a directory contains comes after it
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            // already closed, or a child that saves has outlived its parent: not a reason to fail a test
            directory.toFile().deleteOnExit();
        }
    }

    private Process launch() throws IOException {
        Path program = RedisExecutable.found().orElseThrow();
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                configuration.toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                HOST,
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no",
                "--loglevel",
                "warning"));
        command.addAll(options);
        // a replica saves what its master sends, and would return with it
        Files.deleteIfExists(directory.resolve("dump.rdb"));
        Process started = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
        awaitPort(started);
        return started;
    }

    private void awaitPort(Process started) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!listens()) {
            if (!started.isAlive() || System.nanoTime() - deadline > 0) {
                started.destroyForcibly();
                throw new IllegalStateException("redis-server did not come up on port " + port + " with " + options);
            }
            LockSupport.parkNanos(POLL_NANOS);
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

    /**
     * A port that is free now, as is the one 10000 above for a cluster's bus, and that no other test gets, in this JVM
     * or another. Both are below the ports that systems use for outgoing connections: a client that connects to a dead
     * server's port from that very port reaches itself, and the server finds its port taken.
     */
    static synchronized int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 20_000);
            if (reserve(port) && isFree(port) && isFree(port + 10_000)) {
                return port;
            }
        }
    }

    /** Whether no other test has this port; then none gets it until this JVM ends. */
    private static boolean reserve(int port) {
        // a second channel to the same file would release the lock when it is closed
        if (RESERVED.containsKey(port)) {
            return false;
        }
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "test-port-" + port + ".lock");
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (channel.tryLock() == null) {
                channel.close();
                return false;
            }
            RESERVED.put(port, channel);
            file.toFile().deleteOnExit();
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}

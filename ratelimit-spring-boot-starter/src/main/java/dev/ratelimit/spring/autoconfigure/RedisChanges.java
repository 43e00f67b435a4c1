package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Scheduler;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitPolicies.Change;
import dev.ratelimit.spring.rules.Changes;
import dev.ratelimit.spring.rules.RateLimitOperations;
import dev.ratelimit.spring.rules.SharedChanges;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Shares the changes of policies by one key in Redis that each instance reads once a second, on a thread and a connection
 * of its own. The key lives as long as an instance does. Whoever knows a later version than Redis, which may have lost
 * its data, writes it again. Thread-safe.
 */
final class RedisChanges implements SharedChanges, SmartLifecycle, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RedisChanges.class);

    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** How long an instance that does not read counts as running. */
    private static final Duration ALIVE = Duration.ofSeconds(30);

    /** Before the server accepts requests, and after it has stopped. */
    private static final int PHASE = Integer.MAX_VALUE - 4096;

    private enum Operation {
        /** Read, unless this instance knows a later version. */
        JOIN,
        /** Write, unless another instance was first. */
        REPLACE,
        /** Delete, unless another instance is running. */
        LEAVE
    }

    private final RedisStoreClient client;
    private final byte[] script = script();
    private final byte[] key;
    private final byte[] instance = bytes(UUID.randomUUID().toString());
    private final ObjectProvider<RateLimitOperations> operations;
    private final Scheduler scheduler;
    private @Nullable Thread reader;
    private volatile boolean stopped;

    /** Whether the last command failed. Used under the lock. */
    private boolean failing;

    /**
     * Creates an instance that does not read yet.
     *
     * @param client to be closed by this
     * @param scheduler tells when to read
     */
    RedisChanges(
            RedisStoreClient client,
            String prefix,
            ObjectProvider<RateLimitOperations> operations,
            Scheduler scheduler) {
        this.client = client;
        this.key = bytes(prefix + ":{changes}");
        this.operations = operations;
        this.scheduler = scheduler;
    }

    /** Reads once before it returns, so that the first request already sees the changes. */
    @Override
    public void start() {
        stopped = false;
        read();
        reader = new Thread(this::readUntilStopped, "ratelimit-changes");
        reader.setDaemon(true);
        reader.start();
    }

    private void readUntilStopped() {
        try {
            while (!stopped) {
                scheduler.sleep(INTERVAL_NANOS);
                read();
            }
        } catch (InterruptedException e) {
            // stopped
        }
    }

    private void read() {
        try {
            RateLimitOperations adopting = operations.getObject();
            adopting.adopt(send(Operation.JOIN, adopting.changes()));
        } catch (IllegalStateException e) {
            // logged; what is in force stays in force
        } catch (RuntimeException e) {
            log.warn("Changes of rate limits by other instances were not applied", e);
        }
    }

    @Override
    public Changes replace(Changes next) {
        return send(Operation.REPLACE, next);
    }

    private synchronized Changes send(Operation operation, Changes changes) {
        if (stopped && operation != Operation.LEAVE) {
            throw new IllegalStateException("the application is stopping");
        }
        try (RedisConnection connection = client.factory().getConnection()) {
            List<byte[]> reply = Objects.requireNonNull(connection
                    .scriptingCommands()
                    .eval(
                            script,
                            ReturnType.MULTI,
                            1,
                            key,
                            bytes(operation.name()),
                            instance,
                            bytes(Long.toString(ALIVE.toMillis())),
                            bytes(Long.toString(changes.version())),
                            bytes(written(changes.byPolicy()))));
            Changes now = new Changes(Long.parseLong(text(reply.get(0))), read(text(reply.get(1))));
            if (failing) {
                log.info("Changes of rate limits are shared with other instances again");
            }
            failing = false;
            return now;
        } catch (DataAccessException | IllegalArgumentException e) {
            client.reconnect();
            if (!failing && !stopped) {
                log.warn("Changes of rate limits are not shared with other instances at the moment: {}", e.toString());
            }
            failing = true;
            throw new IllegalStateException(
                    "changes are shared by Redis, which does not answer; nothing is changed here, unless Redis has received"
                            + " the change. Look at the policy before you try again",
                    e);
        }
    }

    /** A line for each policy: name, limit, burst and mode, each encoded, and empty if it is not changed. */
    private static String written(Map<String, Change> changes) {
        return new TreeMap<>(changes)
                .entrySet().stream()
                        .map(one -> Stream.of(
                                        one.getKey(),
                                        Objects.toString(one.getValue().limit(), ""),
                                        Objects.toString(one.getValue().burst(), ""),
                                        Objects.toString(one.getValue().mode(), ""))
                                .map(value -> URLEncoder.encode(value, StandardCharsets.UTF_8))
                                .collect(Collectors.joining(" ")))
                        .collect(Collectors.joining("\n"));
    }

    private static Map<String, Change> read(String written) {
        Map<String, Change> changes = new HashMap<>();
        written.lines().forEach(line -> {
            String[] values = line.split(" ", -1);
            if (values.length != 4) {
                throw new IllegalArgumentException("not a change: '" + line + "'");
            }
            for (int i = 0; i < values.length; i++) {
                values[i] = URLDecoder.decode(values[i], StandardCharsets.UTF_8);
            }
            changes.put(
                    values[0],
                    new Change(
                            values[1].isEmpty() ? null : values[1],
                            values[2].isEmpty() ? null : Long.valueOf(values[2]),
                            values[3].isEmpty() ? null : Mode.valueOf(values[3])));
        });
        return changes;
    }

    @Override
    public boolean isRunning() {
        return reader != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** The last instance takes the changes with it. */
    @Override
    public void stop() {
        Thread thread = reader;
        reader = null;
        if (thread != null) {
            stopped = true;
            thread.interrupt();
            try {
                Changes unused = send(Operation.LEAVE, Changes.NONE);
            } catch (IllegalStateException e) {
                // Redis forgets this instance by itself
            }
        }
    }

    @Override
    public void close() {
        stop();
        client.close();
    }

    private static byte[] script() {
        try {
            return new ClassPathResource("changes.lua", RedisChanges.class).getContentAsByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}

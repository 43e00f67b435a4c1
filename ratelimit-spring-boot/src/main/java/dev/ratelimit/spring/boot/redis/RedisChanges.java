package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.spring.rules.history.History;
import dev.ratelimit.spring.rules.history.SharedHistory;
import dev.ratelimit.spring.rules.operation.Changes;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.spring.rules.operation.SharedChanges;
import dev.ratelimit.spring.rules.override.Overrides;
import dev.ratelimit.spring.rules.override.SharedOverrides;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;

/**
 * Shares the changes of policies by one key in Redis that each instance reads once a second, on a thread and a connection
 * of its own. Whoever reads also writes what Redis does not know: {@link Changes} says why all come to agree. The key
 * lives as long as an instance does. Thread-safe.
 *
 * <p>A change is lost only if Redis loses its data within a second of the change, before another instance has read it,
 * and the instance that made the change ends within that second as well.
 *
 * <p>An instance that starts after Redis has lost its data, before any other has read, begins as configured: nothing
 * distinguishes that from the start of the first instance.
 */
public final class RedisChanges
        implements SharedChanges, SharedOverrides, SharedHistory, SmartLifecycle, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RedisChanges.class);

    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** How long an instance that does not read counts as running. */
    private static final Duration ALIVE = Duration.ofSeconds(30);

    /** Before the server accepts requests, and after it has stopped. */
    private static final int PHASE = Integer.MAX_VALUE - 4096;

    private enum Operation {
        /** Tell, read, and change something, if this instance knew everything. */
        JOIN,
        /** The same, but what Redis has is of somebody else. */
        REPLACE,
        /** Tell, and take the changes away, unless another instance is running. */
        LEAVE
    }

    /** Where the key is. */
    interface Server extends AutoCloseable {

        /**
         * Runs a script.
         *
         * @param keys how many of the arguments are keys
         * @return the reply, a list of texts
         * @throws DataAccessException if there is no answer
         */
        List<byte[]> eval(byte[] script, int keys, byte[]... keysAndArguments);

        /** Connects anew for the next script. */
        void reconnect();

        @Override
        void close();
    }

    /**
     * What Redis answers.
     *
     * @param answer about changes
     * @param digest of all overrides of keys
     * @param micros the time
     * @param history the digest of the history
     */
    private record Reply(SharedChanges.Answer answer, String digest, long micros, String history) {}

    private final Server server;
    private final byte[] script = script("changes.lua");
    private final String key;
    private final String keyOfOverrides;
    private final String keyOfHistory;
    private final RedisOverrides overrides;
    private final RedisHistory history;
    private final String instance = UUID.randomUUID().toString();
    private final ObjectProvider<RateLimitOperations> operations;
    private final Scheduler scheduler;
    private @Nullable Thread reader;
    private volatile boolean stopped;

    /** Whether the last command failed. Changed under the lock. */
    private boolean failing;

    /**
     * Creates an instance that does not read yet.
     *
     * @param server to be closed by this
     * @param scheduler tells when to read
     */
    public RedisChanges(
            Server server, String prefix, ObjectProvider<RateLimitOperations> operations, Scheduler scheduler) {
        this.server = server;
        this.key = prefix + ":{changes}";
        this.keyOfOverrides = key + ":overrides";
        this.keyOfHistory = key + ":history";
        this.overrides = new RedisOverrides(keyOfOverrides, ALIVE, scripts("overrides.lua"));
        this.history = new RedisHistory(keyOfHistory, ALIVE, scripts("history.lua"));
        this.operations = operations;
        this.scheduler = scheduler;
    }

    /** A script with one key. */
    private RedisOverrides.Scripts scripts(String name) {
        byte[] source = script(name);
        return arguments -> eval(source, 1, arguments);
    }

    private List<String> eval(byte[] source, int keys, List<String> keysAndArguments) {
        return server
                .eval(
                        source,
                        keys,
                        keysAndArguments.stream().map(RedisChanges::bytes).toArray(byte[][]::new))
                .stream()
                .map(RedisChanges::text)
                .toList();
    }

    /** Reads once before it returns, so that the first request already sees what Redis knows. */
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
                readOnce();
            }
        } catch (InterruptedException e) {
            // stopped
        }
    }

    /** What it calls, such as a filter of meters, ends this read at most: nobody else reads. */
    private void readOnce() {
        try {
            read();
        } catch (Error e) {
            log.warn("Changes of rate limits by other instances were not applied", e);
        }
    }

    /** Tells what this instance knows, and adopts what it does not know. */
    void read() {
        try {
            RateLimitOperations adopting = operations.getObject();
            Reply reply = send(Operation.JOIN, adopting.changes(), Changes.NONE);
            adopting.adopt(reply.answer().all());
            adopting.forgetOverrides(reply.micros());
            Overrides known = adopting.overridesKnown();
            Overrides all =
                    ask(false, () -> reply.digest().equals(overrides.digest(known)) ? known : overrides.join(known));
            adopting.adopt(all);
            History past = adopting.history().known();
            adopting.history()
                    .adopt(ask(false, () -> reply.history().equals(history.digest(past)) ? past : history.join(past)));
        } catch (IllegalStateException e) {
            // logged; what is in force stays in force
        } catch (RuntimeException e) {
            log.warn("Changes of rate limits by other instances were not applied", e);
        }
    }

    @Override
    public SharedChanges.Answer exchange(Changes known, Changes change) {
        return send(Operation.JOIN, known, change).answer();
    }

    @Override
    public SharedOverrides.Answer exchange(Overrides known, Overrides.Key of, Overrides.Value value) {
        return ask(false, () -> overrides.exchange(known, of, value));
    }

    @Override
    public History exchange(History known) {
        return ask(false, () -> history.exchange(known));
    }

    private Reply send(Operation operation, Changes known, Changes change) {
        return ask(operation == Operation.LEAVE, () -> {
            try {
                return eval(operation, known, change);
            } catch (IllegalArgumentException e) {
                // lines that the script takes for changes, and that nobody can read
                return eval(Operation.REPLACE, known, change);
            }
        });
    }

    private Reply eval(Operation operation, Changes known, Changes change) {
        List<String> reply = eval(
                script,
                3,
                List.of(
                        key,
                        keyOfOverrides,
                        keyOfHistory,
                        operation.name(),
                        instance,
                        Long.toString(ALIVE.toMillis()),
                        known.toString(),
                        change.toString()));
        SharedChanges.Answer answer = new SharedChanges.Answer(
                Changes.parse(reply.get(2)), reply.get(0).equals("1"));
        if (reply.get(1).equals("1")) {
            log.warn(
                    "The key {} in Redis had a value that is none of changes of rate limits; it was replaced by those"
                            + " that this instance knows. Give the other writer another key, or this application"
                            + " another ratelimit.store.redis.prefix",
                    key);
        }
        return new Reply(answer, reply.get(3), Long.parseLong(reply.get(4)), reply.get(5));
    }

    /** Asks Redis, one question at a time. */
    private synchronized <T> T ask(boolean leaving, Supplier<T> question) {
        if (stopped && !leaving) {
            throw new IllegalStateException("the application is stopping");
        }
        try {
            T answer = question.get();
            if (failing) {
                log.info("Changes of rate limits are shared with other instances again");
            }
            failing = false;
            return answer;
        } catch (DataAccessException | IllegalArgumentException e) {
            server.reconnect();
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

    @Override
    public boolean isRunning() {
        return reader != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void stop() {
        Thread thread = reader;
        reader = null;
        if (thread != null) {
            thread.interrupt();
            leave();
        }
    }

    /** Shares nothing from now on. The last instance takes the changes with it. */
    void leave() {
        stopped = true;
        try {
            Reply unused = send(Operation.LEAVE, operations.getObject().changes(), Changes.NONE);
        } catch (IllegalStateException e) {
            // Redis forgets this instance by itself
        }
    }

    @Override
    public void close() {
        stop();
        server.close();
    }

    private static byte[] script(String name) {
        try {
            return new ClassPathResource(name, RedisChanges.class).getContentAsByteArray();
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

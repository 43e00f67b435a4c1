package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangeStore.Contents;
import dev.ratelimit.spring.rules.history.ChangeStore.Ended;
import dev.ratelimit.spring.rules.history.ChangeStore.Kind;
import dev.ratelimit.spring.rules.history.SharedChanges;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;

/**
 * Shares what operators change by four keys in Redis that each instance looks at once a second, on a thread and a connection
 * of its own; the script {@code changes.lua} says what is in them. An instance that knows something that Redis has lost, writes
 * it. The keys live as long as an instance does. Thread-safe.
 *
 * <p>An instance that starts after Redis has lost its data, before any other has read, begins as configured: nothing
 * distinguishes that from the start of the first instance.
 */
public final class RedisChanges implements SharedChanges, SmartLifecycle, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RedisChanges.class);

    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** How long an instance that does not read counts as running. */
    private static final Duration ALIVE = Duration.ofSeconds(30);

    /** Before the server accepts requests, and after it has stopped. */
    private static final int PHASE = Integer.MAX_VALUE - 4096;

    /** Where the keys are. */
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

    /** By how much the clock of an instance may be ahead of that of Redis when something ends. */
    private static final long MAX_EARLY_MICROS = 1_000_000;

    /** For how long a change may be on its way; whoever asked for it gives up before. */
    private static final long MAX_WAY_MICROS = 3_000_000;

    /** Where the answer of an operation begins in a reply, after a foreign key, the state and the time. */
    private static final int ANSWER = 3;

    /** How many ends one script is told. */
    private static final int MAX_ENDED = 500;

    private final Server server;
    private final byte[] script = script();
    private final List<String> keys;

    /** The name of this instance; empty once it has left. Changed under the lock. */
    private String instance = UUID.randomUUID().toString();

    private final ChangeStore changes;
    private final Scheduler scheduler;
    private final Ticker ticker;
    private @Nullable Thread reader;
    private volatile boolean stopped;

    /** What Redis had when this instance last read everything. Used under the lock. */
    private String state = "0 0 0 0";

    /** The moment of the last change that this instance knows. Used under the lock. */
    private long version;

    /** When this instance last read what there is. */
    private volatile long readNanos;

    /** Whether the last command failed. Changed under the lock. */
    private boolean failing;

    /**
     * Creates an instance that does not read yet.
     *
     * @param server to be closed by this
     * @param scheduler tells when to read
     * @param ticker measures how long ago that was
     */
    public RedisChanges(Server server, String prefix, ChangeStore changes, Scheduler scheduler, Ticker ticker) {
        this.server = server;
        String key = prefix + ":{changes}";
        this.keys = List.of(key, key + ":overrides", key + ":history", key + ":version");
        this.changes = changes;
        this.scheduler = scheduler;
        this.ticker = ticker;
        this.readNanos = ticker.nanos();
    }

    /** How long ago this instance has read what operators change; at first, how long ago it began to. */
    public double secondsSinceRead() {
        return (ticker.nanos() - readNanos) / 1e9;
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

    /** What it calls, such as a filter of meters or the log, ends this read at most: nobody else reads. */
    private void readOnce() {
        try {
            read();
        } catch (RuntimeException | Error e) {
            try {
                log.warn("Changes of rate limits by other instances were not applied", e);
            } catch (RuntimeException | Error again) {
                // the next read may succeed
            }
        }
    }

    /** Adopts what other instances have changed, and writes what Redis has lost. */
    void read() {
        try {
            changes.exclusively(() -> {
                if (!stopped) {
                    read(state);
                }
            });
        } catch (IllegalStateException e) {
            // logged; what is in force stays in force
        } catch (RuntimeException e) {
            log.warn("Changes of rate limits by other instances were not applied", e);
        }
    }

    /** Reads everything, unless Redis is in this state. */
    private synchronized void read(String known) {
        adopt(ask("READ", List.of(tellEnded() ? known : "")));
        readNanos = ticker.nanos();
    }

    /**
     * What has ended by the clock of this instance, is removed if it has ended by that of Redis. Otherwise, the clock of this
     * instance was set, and the end is still to come.
     *
     * @return whether all have ended
     */
    private boolean tellEnded() {
        List<Ended> all = changes.ended();
        List<Ended> some = all.subList(0, Math.min(MAX_ENDED, all.size()));
        List<String> arguments = new ArrayList<>();
        for (Ended one : some) {
            arguments.add(hashOf(one.name().kind()));
            arguments.add(one.name().text());
            arguments.add(one.text());
            arguments.add(one.rest());
            arguments.add(Long.toString(one.untilMicros()));
        }
        List<String> reply = some.isEmpty() ? List.of() : ask("END", arguments);
        boolean allEnded = true;
        for (int i = 0; i < some.size(); i++) {
            boolean early = some.get(i).untilMicros() - timeOf(reply) > MAX_EARLY_MICROS;
            if (early || reply.get(ANSWER + i).isEmpty()) {
                changes.forget(some.get(i));
            }
            allEnded &= !early;
        }
        return allEnded;
    }

    /** By the clock of Redis, in microseconds since the epoch. */
    private static long timeOf(List<String> reply) {
        return Long.parseLong(reply.get(2));
    }

    private static String hashOf(Kind kind) {
        return kind == Kind.POLICY ? "1" : "2";
    }

    /** Adopts what a reply has, if there is anything. */
    private void adopt(List<String> reply) {
        if (reply.size() <= ANSWER) {
            return;
        }
        Iterator<String> texts = reply.listIterator(ANSWER);
        Map<String, String> policies = hash(texts);
        Map<String, String> overrides = hash(texts);
        List<String> history = new ArrayList<>();
        for (int i = Integer.parseInt(texts.next()); i > 0; i--) {
            history.add(texts.next());
        }
        Contents theirs = new Contents(Map.of(Kind.POLICY, policies, Kind.OVERRIDE, overrides), history);
        Contents missing = changes.adopt(theirs, timeOf(reply));
        String read = reply.get(1);
        long theirVersion = versionOf(read);
        if (missing == null && theirVersion >= version) {
            state = read;
            version = theirVersion;
        } else {
            replace(read, missing == null ? theirs : missing);
        }
    }

    private static long versionOf(String state) {
        return Long.parseLong(state.substring(0, state.indexOf(' ')));
    }

    private static Map<String, String> hash(Iterator<String> texts) {
        Map<String, String> hash = new HashMap<>();
        for (int i = Integer.parseInt(texts.next()); i > 0; i -= 2) {
            hash.put(texts.next(), texts.next());
        }
        return hash;
    }

    /** Redis has lost something; unless another instance was faster, which the next read shows. */
    private void replace(String read, Contents all) {
        List<String> arguments = new ArrayList<>(List.of(read, Long.toString(version)));
        for (Kind kind : List.of(Kind.POLICY, Kind.OVERRIDE)) {
            arguments.add(Integer.toString(2 * all.of(kind).size()));
            all.of(kind).forEach((name, text) -> {
                arguments.add(name);
                arguments.add(text);
            });
        }
        arguments.add(Integer.toString(all.history().size()));
        arguments.addAll(all.history());
        List<String> reply = ask("REPLACE", arguments);
        if (reply.size() > ANSWER) {
            state = reply.get(ANSWER);
            version = versionOf(state);
        }
    }

    @Override
    public synchronized ChangeStore.@Nullable Accepted change(ChangeStore.Change change, String known) {
        if (stopped) {
            throw new IllegalStateException("the application is stopping");
        }
        List<String> reply = put(change, known);
        if (reply.size() == ANSWER + 1) {
            // the clock of Redis was set since the last read; now it is known
            reply = put(change, known);
        }
        if (reply.size() == ANSWER + 1) {
            throw new IllegalStateException("the change took too long on its way to Redis; nothing is changed");
        }
        if (reply.size() <= ANSWER) {
            read("");
            return null;
        }
        long at = Long.parseLong(reply.get(ANSWER));
        version = Math.max(version, at);
        if (reply.get(1).equals(state)) {
            state = reply.get(ANSWER + 1);
        }
        return new ChangeStore.Accepted(at, timeOf(reply));
    }

    private List<String> put(ChangeStore.Change change, String known) {
        return ask(
                "PUT",
                List.of(
                        hashOf(change.name().kind()),
                        change.name().text(),
                        known,
                        change.text(),
                        Long.toString(change.lastingMicros()),
                        change.entry(),
                        Long.toString(changes.nowMicros() + MAX_WAY_MICROS)));
    }

    /** Asks Redis, one question at a time. */
    private List<String> ask(String operation, List<String> arguments) {
        List<String> all = new ArrayList<>(keys);
        all.addAll(List.of(operation, instance, Long.toString(ALIVE.toMillis())));
        all.addAll(arguments);
        long asked = changes.nowMicros();
        List<String> reply;
        try {
            reply = server
                    .eval(
                            script,
                            keys.size(),
                            all.stream()
                                    .map(text -> text.getBytes(StandardCharsets.UTF_8))
                                    .toArray(byte[][]::new))
                    .stream()
                    .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                    .toList();
        } catch (DataAccessException e) {
            server.reconnect();
            if (!failing && !stopped) {
                log.warn("Changes of rate limits are not shared with other instances at the moment: {}", e.toString());
            }
            failing = true;
            throw new IllegalStateException(
                    "changes are shared by Redis, which does not answer; nothing is changed here, unless Redis receives the"
                            + " change within three seconds. Look at the policy before you try again",
                    e);
        }
        if (failing) {
            log.info("Changes of rate limits are shared with other instances again");
        }
        failing = false;
        changes.setClock(timeOf(reply), asked);
        warnOfForeign(reply.get(0));
        return reply;
    }

    private static void warnOfForeign(String key) {
        if (!key.isEmpty()) {
            log.warn(
                    "The key {} in Redis had a value that is none of changes of rate limits; it was replaced by those"
                            + " that this instance knows. Give the other writer another key, or this application"
                            + " another ratelimit.store.redis.prefix",
                    key);
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
        changes.exclusively(this::tellLeave);
    }

    private synchronized void tellLeave() {
        stopped = true;
        try {
            boolean known = ask("LEAVE", List.of()).size() > ANSWER;
            instance = "";
            if (!known) {
                // Redis has lost who runs, and perhaps what only this instance knows
                read("");
            }
        } catch (IllegalStateException e) {
            // Redis forgets this instance by itself
        }
    }

    @Override
    public void close() {
        stop();
        server.close();
    }

    private static byte[] script() {
        try {
            return new ClassPathResource("changes.lua", RedisChanges.class).getContentAsByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

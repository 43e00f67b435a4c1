package dev.ratelimit.redis.server;

import dev.ratelimit.redis.server.CompiledScript.CommandError;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.internal.ExceptionFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.LuaClosure;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaNumber;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;

/**
 * A simulated Redis 7 that runs the real scripts in this JVM, deterministically: the same calls at the same
 * times have the same replies. It knows the commands that our scripts use. Refusals are the client's exceptions, with
 * the texts of Redis. Not thread-safe.
 */
public final class ScriptServer {

    /** What a server allows scripts to do. A script that has changed a key may go on, except without permission. */
    public enum State {
        HEALTHY(Refusal.NOTHING, ""),
        LOADING(Refusal.REQUESTS, "LOADING Redis is loading the dataset in memory"),
        BUSY(
                Refusal.REQUESTS,
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
        CLUSTER_DOWN(Refusal.REQUESTS, "CLUSTERDOWN Hash slot not served"),
        NOT_AUTHENTICATED(Refusal.REQUESTS, "NOAUTH Authentication required."),
        NO_PERMISSION(Refusal.REQUESTS, "NOPERM this user has no permissions to run the 'evalsha' command"),
        MASTER_DOWN(
                Refusal.SCRIPTS, "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
        READ_ONLY(Refusal.CHANGES, "READONLY You can't write against a read only replica."),
        NO_REPLICAS(Refusal.CHANGES, "NOREPLICAS Not enough good replicas to write."),
        OUT_OF_MEMORY(Refusal.GROWTH, "OOM command not allowed when used memory > 'maxmemory'."),
        CANNOT_SAVE(
                Refusal.CHANGES,
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."),
        /** The cluster is down, and allows reads. */
        CLUSTER_READS_ONLY(
                Refusal.CHANGES,
                "ERR Script attempted to execute a write command while the cluster is down and readonly"),
        NO_PERMISSION_TO_DELETE(
                Refusal.DELETIONS, "ERR The user executing the script can't run this command or subcommand"),
        NO_PERMISSION_TO_CHANGE(
                Refusal.ALL_CHANGES, "ERR The user executing the script can't run this command or subcommand");

        private enum Refusal {
            NOTHING,
            /** Scripts are not even looked up. */
            REQUESTS,
            SCRIPTS,
            /** The first command of a script that changes keys. */
            CHANGES,
            /** The same, if the command may need memory. */
            GROWTH,
            DELETIONS,
            ALL_CHANGES
        }

        private final Refusal refusal;
        private final String error;

        State(Refusal refusal, String error) {
            this.refusal = refusal;
            this.error = error;
        }

        /** The error that this state refuses with. */
        public String error() {
            return error;
        }

        private boolean refuses(Command command, boolean changed) {
            return switch (refusal) {
                case CHANGES -> command.changes && !changed;
                case GROWTH -> command.grows && !changed;
                case DELETIONS -> command == Command.DEL;
                case ALL_CHANGES -> command.changes;
                default -> false;
            };
        }
    }

    /** All keys of a server at one moment. Immutable. */
    public static final class Data {
        private final Map<LuaString, Entry> entries;

        private Data(Map<LuaString, Entry> entries) {
            this.entries = new HashMap<>(entries);
        }
    }

    /** The value is a text, a {@link Hash}, a {@link Sequence}, or anything else in place of another type. */
    private record Entry(Object value, long expiresAtMillis) {}

    private record Hash(Map<LuaString, LuaString> fields) {}

    private record Sequence(List<LuaString> texts) {}

    private enum Command {
        TIME(1, 1, false, false),
        MGET(2, Integer.MAX_VALUE, false, false),
        EXISTS(2, Integer.MAX_VALUE, false, false),
        PSETEX(4, 4, true, true),
        DEL(2, Integer.MAX_VALUE, true, false),
        HMGET(3, Integer.MAX_VALUE, false, false),
        HSET(4, Integer.MAX_VALUE, true, true),
        HGETALL(2, 2, false, false),
        HDEL(3, 3, true, false),
        HLEN(2, 2, false, false),
        LPUSH(3, 3, true, true),
        RPUSH(3, Integer.MAX_VALUE, true, true),
        LTRIM(4, 4, true, false),
        LRANGE(4, 4, false, false),
        LLEN(2, 2, false, false),
        PEXPIRE(3, 3, true, false);

        private static final Map<LuaString, Command> BY_NAME = new HashMap<>();

        static {
            for (Command command : values()) {
                BY_NAME.put(LuaString.valueOf(command.name()), command);
            }
        }

        private final int min;
        private final int max;
        private final boolean changes;
        private final boolean grows;

        /** With the minimum and maximum of arguments, the name included. */
        Command(int min, int max, boolean changes, boolean grows) {
            this.min = min;
            this.max = max;
            this.changes = changes;
            this.grows = grows;
        }
    }

    private static final long NEVER = Long.MAX_VALUE;
    private static final LuaString KEYS = LuaString.valueOf("KEYS");
    private static final LuaString ARGV = LuaString.valueOf("ARGV");
    private static final LuaString ERR = LuaString.valueOf("err");

    private final LongSupplier epochMicros;
    private final LuaLibrary.Names globals = LuaLibrary.globals();
    private final Map<String, CompiledScript> scripts = new HashMap<>();
    private Map<LuaString, Entry> entries = new HashMap<>();
    private State state = State.HEALTHY;
    private boolean clustered;
    private long nowMicros;
    private boolean changed;

    /**
     * Creates a healthy, empty server.
     *
     * @param epochMicros its clock, read once by each script
     */
    public ScriptServer(LongSupplier epochMicros) {
        this.epochMicros = epochMicros;
        LuaTable redis = new LuaLibrary.Names();
        redis.rawset("call", LuaLibrary.function(this::call));
        redis.rawset("pcall", LuaLibrary.function(this::protectedCall));
        redis.rawset("error_reply", LuaLibrary.function(arguments -> errorReply(arguments.checkjstring(1))));
        redis.rawset(
                "sha1hex",
                LuaLibrary.function(
                        arguments -> LuaValue.valueOf(CompiledScript.sha(bytes(arguments.checkstring(1))))));
        globals.rawset("redis", redis);
    }

    /** Runs this script and keeps it. The reply must consist of numbers, which are truncated. */
    public long[] eval(String text, String[] keys, byte[][] arguments) {
        refuseRequest(keys);
        load(text);
        return run(CompiledScript.of(text), keys, arguments, ScriptServer::numbers);
    }

    /** The same for a script whose reply consists of texts. */
    public List<byte[]> evalTexts(String text, String[] keys, byte[][] arguments) {
        refuseRequest(keys);
        load(text);
        return run(CompiledScript.of(text), keys, arguments, ScriptServer::texts);
    }

    /** Runs the script with this digest, if the server has it. */
    public long[] evalSha(String sha, String[] keys, byte[][] arguments) {
        refuseRequest(keys);
        CompiledScript script = scripts.get(sha);
        if (script == null) {
            throw ExceptionFactory.createExecutionException("NOSCRIPT No matching script. Please use EVAL.");
        }
        return run(script, keys, arguments, ScriptServer::numbers);
    }

    /** Keeps this script. */
    public void load(String text) {
        CompiledScript script = CompiledScript.of(text);
        scripts.put(script.sha(), script);
    }

    /** Forgets all scripts. */
    public void flushScripts() {
        scripts.clear();
    }

    /** Forgets all keys. */
    public void flushAll() {
        entries.clear();
    }

    /** Sets what it refuses from now on. */
    public void state(State next) {
        state = next;
    }

    /** Makes it a node of a cluster, where the keys of a script must share a slot. */
    public void clustered() {
        clustered = true;
    }

    /** A copy of all keys, for another server or for later. */
    public Data snapshot() {
        return new Data(entries);
    }

    /** Replaces all keys. */
    public void restore(Data data) {
        entries = new HashMap<>(data.entries);
    }

    /** Stores a value without expiry: a string if it consists of bytes, and otherwise a value of another type. */
    public void put(String key, Object value) {
        entries.put(text(key), new Entry(value instanceof byte[] bytes ? text(bytes) : value, NEVER));
    }

    /** The string at this key, or null if there is none. */
    public byte @Nullable [] get(String key) {
        Entry entry = current(text(key), epochMicros.getAsLong());
        return entry != null && entry.value instanceof LuaString value ? bytes(value) : null;
    }

    /** The names of all keys. */
    public List<String> keys() {
        return entries.keySet().stream()
                .map(LuaString::tojstring)
                .filter(this::has)
                .toList();
    }

    /** The number of keys, including those that have expired and that no command has asked for since. */
    public int size() {
        return entries.size();
    }

    /** How long this key remains: -1 if it does not expire, and -2 if it does not exist. */
    public long remainingMillis(String key) {
        long now = epochMicros.getAsLong();
        Entry entry = current(text(key), now);
        if (entry == null) {
            return -2;
        }
        return entry.expiresAtMillis == NEVER ? -1 : entry.expiresAtMillis - millis(now);
    }

    /** Whether this key exists. */
    public boolean has(String key) {
        return current(text(key), epochMicros.getAsLong()) != null;
    }

    /** Moves the keys that this condition chooses to another server. */
    public void moveTo(ScriptServer other, Predicate<String> chosen) {
        Set<LuaString> moved = entries.keySet().stream()
                .filter(key -> chosen.test(key.tojstring()))
                .collect(Collectors.toSet());
        for (LuaString key : moved) {
            other.entries.put(key, Objects.requireNonNull(entries.remove(key)));
        }
    }

    private void refuseRequest(String[] keys) {
        if (state.refusal == State.Refusal.REQUESTS) {
            throw ExceptionFactory.createExecutionException(state.error);
        }
        if (clustered && Arrays.stream(keys).map(SlotHash::getSlot).distinct().count() > 1) {
            throw ExceptionFactory.createExecutionException("CROSSSLOT Keys in request don't hash to the same slot");
        }
    }

    private <T> T run(CompiledScript script, String[] keys, byte[][] arguments, Function<LuaTable, T> result) {
        if (state.refusal == State.Refusal.SCRIPTS) {
            throw ExceptionFactory.createExecutionException(state.error);
        }
        nowMicros = epochMicros.getAsLong();
        changed = false;
        globals.rawset(
                KEYS,
                LuaValue.listOf(Arrays.stream(keys).map(ScriptServer::text).toArray(LuaValue[]::new)));
        globals.rawset(
                ARGV,
                LuaValue.listOf(Arrays.stream(arguments).map(ScriptServer::text).toArray(LuaValue[]::new)));
        try {
            LuaTable reply = new LuaClosure(script.code(), globals).call().checktable();
            LuaValue error = reply.rawget(ERR);
            if (!error.isnil()) {
                throw ExceptionFactory.createExecutionException(error.tojstring());
            }
            return result.apply(reply);
        } catch (LuaError e) {
            throw script.failure(e);
        }
    }

    private static List<byte[]> texts(LuaTable table) {
        return IntStream.rangeClosed(1, table.length())
                .mapToObj(i -> bytes(table.rawget(i).checkstring()))
                .toList();
    }

    private static long[] numbers(LuaTable table) {
        long[] numbers = new long[table.length()];
        for (int i = 0; i < numbers.length; i++) {
            if (!(table.rawget(i + 1) instanceof LuaNumber number)) {
                throw new IllegalStateException("a reply must consist of numbers but contained " + table.rawget(i + 1));
            }
            numbers[i] = truncated(number.todouble());
        }
        return numbers;
    }

    /** As x86 converts: anything that does not fit is the smallest number. */
    private static long truncated(double number) {
        return number >= -0x1p63 && number < 0x1p63 ? (long) number : Long.MIN_VALUE;
    }

    private Varargs call(Varargs arguments) {
        Command command = Command.BY_NAME.get(arguments.checkstring(1));
        if (command == null) {
            throw new CommandError("ERR Unknown Redis command called from script");
        } else if (arguments.narg() < command.min || arguments.narg() > command.max) {
            throw new CommandError("ERR Wrong number of args calling Redis command from script");
        } else if (state.refuses(command, changed)) {
            throw new CommandError(state.error);
        }
        changed |= command.changes;
        return switch (command) {
            case TIME -> time();
            case MGET -> values(arguments);
            case EXISTS -> existing(arguments);
            case PSETEX -> set(arguments.checkstring(2), arguments.arg(3), arguments.checkstring(4));
            case DEL -> delete(arguments);
            case HMGET -> fields(arguments);
            case HSET -> setFields(arguments);
            case HGETALL -> allFields(arguments.arg(2));
            case HDEL -> deleteField(arguments.checkstring(2), arguments.checkstring(3));
            case HLEN -> LuaValue.valueOf(hash(entry(arguments.arg(2))).size());
            case LPUSH, RPUSH -> push(command, arguments);
            case LTRIM -> trim(arguments);
            case LRANGE -> range(arguments);
            case LLEN -> LuaValue.valueOf(sequence(entry(arguments.arg(2))).size());
            case PEXPIRE -> expire(arguments.checkstring(2), wholeMillis(arguments.arg(3)));
        };
    }

    private Varargs protectedCall(Varargs arguments) {
        try {
            return call(arguments);
        } catch (CommandError e) {
            return errorReply(String.valueOf(e.getMessage()));
        }
    }

    private static LuaValue errorReply(String error) {
        LuaTable reply = new LuaTable();
        reply.rawset(ERR, LuaValue.valueOf(error.contains(" ") ? error : "ERR " + error));
        return reply;
    }

    private LuaTable time() {
        return LuaValue.listOf(new LuaValue[] {
            LuaValue.valueOf(Long.toString(Math.floorDiv(nowMicros, 1_000_000L))),
            LuaValue.valueOf(Long.toString(Math.floorMod(nowMicros, 1_000_000L)))
        });
    }

    private LuaValue existing(Varargs arguments) {
        int count = 0;
        for (int i = 2; i <= arguments.narg(); i++) {
            count += entry(arguments.arg(i)) == null ? 0 : 1;
        }
        return LuaValue.valueOf(count);
    }

    private LuaTable values(Varargs arguments) {
        LuaValue[] values = new LuaValue[arguments.narg() - 1];
        for (int i = 0; i < values.length; i++) {
            Entry entry = entry(arguments.arg(i + 2));
            values[i] = entry != null && entry.value instanceof LuaString value ? value : LuaValue.FALSE;
        }
        return LuaValue.listOf(values);
    }

    private LuaValue set(LuaString key, LuaValue time, LuaString value) {
        long millis = wholeMillis(time);
        if (millis <= 0) {
            throw new CommandError("ERR invalid expire time in 'psetex' command");
        }
        entries.put(key, new Entry(value, millis(nowMicros) + millis));
        return LuaValue.TRUE;
    }

    private static long wholeMillis(LuaValue time) {
        double millis = time.checkdouble();
        // a number is written with 17 digits, and read as a whole one
        if (millis != Math.rint(millis) || Math.abs(millis) >= 1e17) {
            throw new CommandError("ERR value is not an integer or out of range");
        }
        return (long) millis;
    }

    private LuaValue expire(LuaString key, long millis) {
        Entry entry = entry(key);
        if (entry == null) {
            return LuaValue.ZERO;
        } else if (millis <= 0) {
            entries.remove(key);
        } else {
            entries.put(key, new Entry(entry.value, millis(nowMicros) + millis));
        }
        return LuaValue.ONE;
    }

    private static Map<LuaString, LuaString> hash(@Nullable Entry entry) {
        if (entry != null && !(entry.value instanceof Hash)) {
            throw new CommandError("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        return entry != null && entry.value instanceof Hash hash ? hash.fields : Map.of();
    }

    private LuaTable fields(Varargs arguments) {
        Map<LuaString, LuaString> fields = hash(entry(arguments.arg(2)));
        return LuaValue.listOf(IntStream.rangeClosed(3, arguments.narg())
                .mapToObj(i -> fields.get(arguments.checkstring(i)))
                .map(value -> value == null ? LuaValue.FALSE : value)
                .toArray(LuaValue[]::new));
    }

    private LuaValue setFields(Varargs arguments) {
        LuaString key = arguments.checkstring(2);
        Entry entry = entry(key);
        Map<LuaString, LuaString> fields = new HashMap<>(hash(entry));
        int before = fields.size();
        for (int i = 3; i < arguments.narg(); i += 2) {
            fields.put(arguments.checkstring(i), arguments.checkstring(i + 1));
        }
        keep(key, entry, new Hash(fields));
        return LuaValue.valueOf(fields.size() - before);
    }

    private void keep(LuaString key, @Nullable Entry before, Object value) {
        entries.put(key, new Entry(value, before == null ? NEVER : before.expiresAtMillis));
    }

    private LuaTable allFields(LuaValue key) {
        return LuaValue.listOf(hash(entry(key)).entrySet().stream()
                .flatMap(field -> Stream.of(field.getKey(), field.getValue()))
                .toArray(LuaValue[]::new));
    }

    /** A hash or a list without elements does not exist. */
    private LuaValue deleteField(LuaString key, LuaString field) {
        Entry entry = entry(key);
        Map<LuaString, LuaString> fields = new HashMap<>(hash(entry));
        if (fields.remove(field) == null) {
            return LuaValue.ZERO;
        } else if (fields.isEmpty()) {
            entries.remove(key);
        } else {
            keep(key, entry, new Hash(fields));
        }
        return LuaValue.ONE;
    }

    private static List<LuaString> sequence(@Nullable Entry entry) {
        if (entry != null && !(entry.value instanceof Sequence)) {
            throw new CommandError("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        return entry != null && entry.value instanceof Sequence sequence ? sequence.texts : List.of();
    }

    private LuaValue push(Command command, Varargs arguments) {
        LuaString key = arguments.checkstring(2);
        Entry entry = entry(key);
        List<LuaString> texts = new ArrayList<>(sequence(entry));
        for (int i = 3; i <= arguments.narg(); i++) {
            texts.add(command == Command.LPUSH ? 0 : texts.size(), arguments.checkstring(i));
        }
        keep(key, entry, new Sequence(texts));
        return LuaValue.valueOf(texts.size());
    }

    /** From the beginning only. */
    private LuaValue trim(Varargs arguments) {
        LuaString key = arguments.checkstring(2);
        Entry entry = entry(key);
        List<LuaString> texts = sequence(entry);
        int size = Math.min(texts.size(), arguments.checkint(4) + 1);
        if (entry != null) {
            keep(key, entry, new Sequence(List.copyOf(texts.subList(0, size))));
        }
        return LuaValue.TRUE;
    }

    /** All of them only. */
    private LuaTable range(Varargs arguments) {
        return LuaValue.listOf(sequence(entry(arguments.arg(2))).toArray(LuaValue[]::new));
    }

    private LuaValue delete(Varargs arguments) {
        int deleted = 0;
        for (int i = 2; i <= arguments.narg(); i++) {
            deleted += entry(arguments.arg(i)) == null ? 0 : 1;
            entries.remove(arguments.checkstring(i));
        }
        return LuaValue.valueOf(deleted);
    }

    private @Nullable Entry entry(LuaValue key) {
        return current(key.checkstring(), nowMicros);
    }

    /** Only a look removes a key that has expired: if the clock is set back before, it is there again. */
    private @Nullable Entry current(LuaString key, long micros) {
        Entry entry = entries.get(key);
        if (entry != null && millis(micros) > entry.expiresAtMillis) {
            entries.remove(key);
            return null;
        }
        return entry;
    }

    private static long millis(long micros) {
        return Math.floorDiv(micros, 1000L);
    }

    private static LuaString text(String text) {
        return text(text.getBytes(StandardCharsets.UTF_8));
    }

    private static LuaString text(byte[] bytes) {
        return LuaString.valueOf(bytes);
    }

    private static byte[] bytes(LuaString text) {
        return Arrays.copyOfRange(text.m_bytes, text.m_offset, text.m_offset + text.m_length);
    }
}

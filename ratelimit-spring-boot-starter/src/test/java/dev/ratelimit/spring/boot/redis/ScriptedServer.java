package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Ticker;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.TwoArgFunction;
import org.luaj.vm2.lib.VarArgFunction;
import org.luaj.vm2.lib.jse.JsePlatform;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * A Redis with three keys, and one for the counts of each instance, that runs the scripts of this package in this JVM, by a
 * ticker, and fails as it is told.
 */
final class ScriptedServer implements RedisChanges.Server {

    private static final String OVERRIDES = ":overrides";
    static final String HISTORY = ":history";
    private static final String COUNTS = ":counts:";
    private static final long EPOCH_MICROS = 1_764_000_000_000_000L;

    /**
     * What the keys have at a moment.
     *
     * @param value of changes: a text, or of another type
     * @param fields of overrides, and, with a prefix, of the history
     */
    record Data(@Nullable Object value, long expiresAtMillis, Map<String, String> fields, long fieldsExpireAtMillis) {

        static final Data NONE = new Data(null, 0, Map.of(), 0);
    }

    /** What an instance has counted. */
    private record Counted(String text, long expiresAtMillis) {}

    private final Ticker ticker;
    private final Map<String, Counted> counts = new HashMap<>();
    private final Globals globals = JsePlatform.standardGlobals();
    private Data data = Data.NONE;
    private int scripts;
    private int bytes;
    private int largest;
    private boolean down;
    private boolean replyIsLost;
    private Runnable atNextScript = () -> {};

    ScriptedServer(Ticker ticker) {
        this.ticker = ticker;
        // that of the interpreter knows integers of 32 bits only
        globals.get("string").set("format", new TwoArgFunction() {
            @Override
            public LuaValue call(LuaValue format, LuaValue number) {
                assertThat(format.checkjstring()).isEqualTo("%d");
                return LuaValue.valueOf(Long.toString((long) number.checkdouble()));
            }
        });
        LuaTable redis = new LuaTable();
        VarArgFunction call = new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs arguments) {
                return command(arguments);
            }
        };
        redis.set("call", call);
        redis.set("pcall", call);
        redis.set("sha1hex", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue text) {
                return LuaValue.valueOf(sha1(bytes(text)));
            }
        });
        globals.set("redis", redis);
    }

    /** What it knows now. */
    Data data() {
        return data;
    }

    /** From now on, it knows only this. */
    void restore(Data earlier) {
        data = earlier;
    }

    /** It loses its data. */
    void flush() {
        data = Data.NONE;
        counts.clear();
    }

    /** Each instance has told this in place of what it has counted. */
    void putCounts(String text) {
        counts.replaceAll((key, counted) -> new Counted(text, counted.expiresAtMillis()));
    }

    /** The sizes of what instances have counted. */
    List<Integer> sizesOfCounts() {
        return counts.values().stream().map(counted -> counted.text().length()).toList();
    }

    /** Somebody else writes to the key. */
    void put(Object value) {
        data = new Data(value, Long.MAX_VALUE, data.fields(), data.fieldsExpireAtMillis());
    }

    /** Somebody else writes to a field of the key of overrides or, with a prefix, of the history. */
    void putField(String field, String value) {
        Map<String, String> more = new HashMap<>(fields());
        more.put(field, value);
        data = new Data(data.value(), data.expiresAtMillis(), Map.copyOf(more), Long.MAX_VALUE);
    }

    /** Whether it answers. */
    void down(boolean now) {
        down = now;
    }

    /** Runs this before the next script, on its thread, whether it answers or not. */
    void atNextScript(Runnable then) {
        atNextScript = then;
    }

    boolean isDown() {
        return down;
    }

    /** It runs the next script, and the reply gets lost. */
    void loseReply() {
        replyIsLost = true;
    }

    boolean hasKey() {
        return exists() || !fields().isEmpty() || !counts.isEmpty();
    }

    /** How many scripts it has run. */
    int scripts() {
        return scripts;
    }

    /** How many bytes one script was told and answered at most. */
    int largest() {
        return largest;
    }

    /** How many bytes it was told, without scripts, and has answered. */
    int bytes() {
        return bytes;
    }

    @Override
    public List<byte[]> eval(byte[] script, int keys, byte[]... keysAndArguments) {
        Runnable then = atNextScript;
        atNextScript = () -> {};
        then.run();
        if (down) {
            throw new RedisConnectionFailureException("down");
        }
        scripts++;
        int before = bytes;
        bytes += Stream.of(keysAndArguments).mapToInt(text -> text.length).sum();
        globals.set("KEYS", list(Stream.of(keysAndArguments).limit(keys)));
        globals.set("ARGV", list(Stream.of(keysAndArguments).skip(keys)));
        LuaTable reply = globals.load(new String(script, StandardCharsets.UTF_8), "changes")
                .call()
                .checktable();
        if (replyIsLost) {
            replyIsLost = false;
            throw new RedisConnectionFailureException("no reply");
        }
        List<byte[]> texts = IntStream.rangeClosed(1, reply.length())
                .mapToObj(i -> bytes(reply.get(i)))
                .toList();
        bytes += texts.stream().mapToInt(text -> text.length).sum();
        largest = Math.max(largest, bytes - before);
        return texts;
    }

    private static LuaTable list(Stream<byte[]> texts) {
        return LuaValue.listOf(texts.map(LuaString::valueOf).toArray(LuaValue[]::new));
    }

    private static byte[] bytes(LuaValue value) {
        LuaString text = value.checkstring();
        return Arrays.copyOfRange(text.m_bytes, text.m_offset, text.m_offset + text.m_length);
    }

    private long micros() {
        return EPOCH_MICROS + ticker.nanos() / 1000;
    }

    private Map<String, String> fields() {
        return micros() / 1000 < data.fieldsExpireAtMillis() ? data.fields() : Map.of();
    }

    private static String sha1(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean exists() {
        return data.value() != null && micros() / 1000 < data.expiresAtMillis();
    }

    private static boolean isOfHistory(String field) {
        return field.startsWith(HISTORY);
    }

    /** The name of a field, with a prefix if it is one of the history. */
    private static String field(Varargs arguments, int index) {
        return (arguments.checkjstring(2).endsWith(HISTORY) ? HISTORY : "") + arguments.checkjstring(index);
    }

    private @Nullable String text(String key) {
        if (key.contains(COUNTS)) {
            Counted counted = counts.get(key);
            return counted == null || micros() / 1000 >= counted.expiresAtMillis() ? null : counted.text();
        }
        return exists() && data.value() instanceof String text ? text : null;
    }

    private Data delete(String key) {
        if (key.contains(COUNTS)) {
            counts.remove(key);
            return data;
        }
        if (!key.endsWith(OVERRIDES) && !key.endsWith(HISTORY)) {
            return new Data(null, 0, data.fields(), data.fieldsExpireAtMillis());
        }
        Map<String, String> rest = new HashMap<>(data.fields());
        rest.keySet().removeIf(field -> isOfHistory(field) == key.endsWith(HISTORY));
        return new Data(data.value(), data.expiresAtMillis(), Map.copyOf(rest), data.fieldsExpireAtMillis());
    }

    private Varargs command(Varargs arguments) {
        return switch (arguments.checkjstring(1)) {
            case "TIME" ->
                LuaValue.listOf(new LuaValue[] {
                    LuaValue.valueOf(Long.toString(micros() / 1_000_000)),
                    LuaValue.valueOf(Long.toString(micros() % 1_000_000))
                });
            case "MGET" -> {
                String text = text(arguments.checkjstring(2));
                yield LuaValue.listOf(new LuaValue[] {text == null ? LuaValue.FALSE : LuaValue.valueOf(text)});
            }
            case "EXISTS" -> LuaValue.valueOf(exists() ? 1 : 0);
            case "PSETEX" -> {
                if (arguments.checkjstring(2).contains(COUNTS)) {
                    counts.put(
                            arguments.checkjstring(2),
                            new Counted(arguments.checkjstring(4), micros() / 1000 + arguments.checklong(3)));
                    yield LuaValue.NONE;
                }
                data = new Data(
                        arguments.checkjstring(4),
                        micros() / 1000 + arguments.checklong(3),
                        data.fields(),
                        data.fieldsExpireAtMillis());
                yield LuaValue.NONE;
            }
            case "DEL" -> {
                for (int i = 2; i <= arguments.narg(); i++) {
                    data = delete(arguments.checkjstring(i));
                }
                yield LuaValue.NONE;
            }
            case "HMGET" ->
                LuaValue.listOf(IntStream.rangeClosed(3, arguments.narg())
                        .mapToObj(i -> fields().get(field(arguments, i)))
                        .map(text -> text == null ? LuaValue.FALSE : LuaValue.valueOf(text))
                        .toArray(LuaValue[]::new));
            case "HSET" -> {
                Map<String, String> more = new HashMap<>(fields());
                more.put(field(arguments, 3), arguments.checkjstring(4));
                data = new Data(data.value(), data.expiresAtMillis(), Map.copyOf(more), Long.MAX_VALUE);
                yield LuaValue.NONE;
            }
            case "PEXPIRE" -> {
                data = new Data(
                        data.value(), data.expiresAtMillis(), data.fields(), micros() / 1000 + arguments.checklong(3));
                yield LuaValue.NONE;
            }
            default -> throw new IllegalArgumentException(arguments.tojstring());
        };
    }

    @Override
    public void reconnect() {
        // the next script does
    }

    @Override
    public void close() {
        // nothing is open
    }
}

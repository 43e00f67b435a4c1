package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Ticker;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.TwoArgFunction;
import org.luaj.vm2.lib.VarArgFunction;
import org.luaj.vm2.lib.jse.JsePlatform;
import org.springframework.data.redis.RedisConnectionFailureException;

/** A Redis with one key that runs the script of changes in this JVM, by a ticker, and fails as it is told. */
final class ScriptedServer implements RedisChanges.Server {

    private static final long EPOCH_MICROS = 1_764_000_000_000_000L;

    /** What the key has at a moment; the value is a text, or of another type. */
    record Data(@Nullable Object value, long expiresAtMillis) {}

    private final Ticker ticker;
    private final Globals globals = JsePlatform.standardGlobals();
    private Data data = new Data(null, 0);
    private boolean down;
    private boolean replyIsLost;

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
        redis.set("call", new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs arguments) {
                return command(arguments);
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
        data = new Data(null, 0);
    }

    /** Somebody else writes to the key. */
    void put(Object value) {
        data = new Data(value, Long.MAX_VALUE);
    }

    /** Whether it answers. */
    void down(boolean now) {
        down = now;
    }

    boolean isDown() {
        return down;
    }

    /** It runs the next script, and the reply gets lost. */
    void loseReply() {
        replyIsLost = true;
    }

    boolean hasKey() {
        return exists();
    }

    @Override
    public List<byte[]> eval(byte[] script, byte[]... keyAndArguments) {
        if (down) {
            throw new RedisConnectionFailureException("down");
        }
        globals.set("KEYS", list(Stream.of(keyAndArguments[0])));
        globals.set("ARGV", list(Arrays.stream(keyAndArguments).skip(1)));
        LuaTable reply = globals.load(new String(script, StandardCharsets.UTF_8), "changes")
                .call()
                .checktable();
        if (replyIsLost) {
            replyIsLost = false;
            throw new RedisConnectionFailureException("no reply");
        }
        return Stream.of(1, 2, 3).map(i -> bytes(reply.get(i))).toList();
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

    private boolean exists() {
        return data.value() != null && micros() / 1000 < data.expiresAtMillis();
    }

    private Varargs command(Varargs arguments) {
        return switch (arguments.checkjstring(1)) {
            case "TIME" ->
                LuaValue.listOf(new LuaValue[] {
                    LuaValue.valueOf(Long.toString(micros() / 1_000_000)),
                    LuaValue.valueOf(Long.toString(micros() % 1_000_000))
                });
            case "MGET" ->
                LuaValue.listOf(new LuaValue[] {
                    exists() && data.value() instanceof String text ? LuaValue.valueOf(text) : LuaValue.FALSE
                });
            case "EXISTS" -> LuaValue.valueOf(exists() ? 1 : 0);
            case "PSETEX" -> {
                data = new Data(arguments.checkjstring(4), micros() / 1000 + arguments.checklong(3));
                yield LuaValue.NONE;
            }
            case "DEL" -> {
                flush();
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

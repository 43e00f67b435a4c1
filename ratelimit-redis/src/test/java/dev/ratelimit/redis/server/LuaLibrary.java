package dev.ratelimit.redis.server;

import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaFunction;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.BaseLib;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.PackageLib;
import org.luaj.vm2.lib.StringLib;
import org.luaj.vm2.lib.TableLib;
import org.luaj.vm2.lib.TwoArgFunction;
import org.luaj.vm2.lib.VarArgFunction;

/**
 * What Redis offers to scripts, as far as ours use it. Functions without state, which all servers share.
 *
 * <p>Functions that differ between Lua 5.1 and the interpreter, which is one of Lua 5.2, or whose errors are part of a
 * reply, are written here.
 */
final class LuaLibrary {

    private static final Set<String> BASE = Set.of("error", "ipairs", "next", "pairs", "select", "tonumber", "type");
    private static final Set<String> STRING =
            Set.of("byte", "find", "gmatch", "gsub", "lower", "match", "sub", "upper");

    /** How many values a Lua function may return. */
    private static final int MAX_RESULTS = 7999;

    private static final Names SHARED = new Names();

    static {
        Globals lua = new Globals();
        lua.load(new BaseLib());
        lua.load(new PackageLib());
        lua.load(new StringLib());
        lua.load(new TableLib());
        Names string = new Names();
        STRING.forEach(name -> string.rawset(name, lua.get("string").get(name)));
        string.rawset("rep", function(LuaLibrary::repeat));
        string.rawset("format", function(LuaLibrary::format));
        BASE.forEach(name -> SHARED.rawset(name, lua.get(name)));
        SHARED.rawset("unpack", function(LuaLibrary::unpack));
        SHARED.rawset("string", string);
        Names table = new Names();
        table.rawset("concat", lua.get("table").get("concat"));
        table.rawset("insert", lua.get("table").get("insert"));
        SHARED.rawset("table", table);
        SHARED.rawset("math", math());
        SHARED.rawset("struct", struct());
    }

    private LuaLibrary() {}

    /** A table that scripts cannot change, and in which they must know what they read. */
    static final class Names extends LuaTable {

        @Override
        public LuaValue get(LuaValue name) {
            LuaValue value = rawget(name);
            if (value.isnil()) {
                throw new LuaError("Script attempted to access nonexistent global variable '" + name.tojstring() + "'");
            }
            return value;
        }

        @Override
        public void set(LuaValue name, LuaValue value) {
            throw new LuaError("Attempt to modify a readonly table");
        }
    }

    /** The global names of a server's scripts, apart from those that depend on the server. */
    static Names globals() {
        Names globals = new Names();
        for (LuaValue name : SHARED.keys()) {
            globals.rawset(name, SHARED.rawget(name));
        }
        return globals;
    }

    /** A function of Lua. */
    static LuaFunction function(Function<Varargs, Varargs> body) {
        return new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs arguments) {
                return body.apply(arguments);
            }
        };
    }

    private static LuaTable math() {
        Names math = new Names();
        math.rawset("floor", of(Math::floor));
        math.rawset("ceil", of(Math::ceil));
        math.rawset("fmod", of((x, y) -> x % y));
        // not those of Java, which differ for NaN: a damaged value may hold one
        math.rawset("min", of((x, y) -> y < x ? y : x));
        math.rawset("max", of((x, y) -> y > x ? y : x));
        return math;
    }

    private static LuaFunction of(DoubleUnaryOperator operator) {
        return new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue x) {
                return LuaValue.valueOf(operator.applyAsDouble(x.checkdouble()));
            }
        };
    }

    private static LuaFunction of(DoubleBinaryOperator operator) {
        return new TwoArgFunction() {
            @Override
            public LuaValue call(LuaValue x, LuaValue y) {
                return LuaValue.valueOf(operator.applyAsDouble(x.checkdouble(), y.checkdouble()));
            }
        };
    }

    private static Varargs repeat(Varargs arguments) {
        LuaString text = arguments.checkstring(1);
        int times = Math.max(0, arguments.checkint(2));
        byte[] repeated = new byte[Math.multiplyExact(text.m_length, times)];
        for (int at = 0; at < repeated.length; at += text.m_length) {
            text.copyInto(0, repeated, at, text.m_length);
        }
        return LuaString.valueUsing(repeated);
    }

    /** The interpreter's knows integers of 32 bits alone. */
    private static Varargs format(Varargs arguments) {
        if (!arguments.checkjstring(1).equals("%d")) {
            throw new UnsupportedOperationException("string format " + arguments.arg(1));
        }
        return LuaValue.valueOf(Long.toString((long) arguments.checkdouble(2)));
    }

    private static Varargs unpack(Varargs arguments) {
        LuaTable table = arguments.checktable(1);
        int from = arguments.optint(2, 1);
        int to = arguments.optint(3, table.length());
        if (to - from >= MAX_RESULTS) {
            throw new LuaError("too many results to unpack");
        }
        return table.unpack(from, to);
    }

    private static LuaTable struct() {
        Names struct = new Names();
        struct.rawset("pack", function(LuaLibrary::packDoubles));
        struct.rawset("unpack", function(LuaLibrary::unpackDoubles));
        return struct;
    }

    private static Varargs packDoubles(Varargs arguments) {
        int count = doubles(arguments);
        ByteBuffer packed = ByteBuffer.allocate(count * Double.BYTES);
        for (int i = 2; i < 2 + count; i++) {
            LuaValue number = arguments.arg(i);
            if (!number.isnumber()) {
                throw badArgument(i, "pack", "number expected, got " + number.typename());
            }
            packed.putDouble(number.todouble());
        }
        return LuaString.valueUsing(packed.array());
    }

    private static Varargs unpackDoubles(Varargs arguments) {
        int count = doubles(arguments);
        LuaString packed = arguments.checkstring(2);
        int from = arguments.optint(3, 1) - 1;
        if (from < 0) {
            throw badArgument(3, "unpackFrom", "offset must be 1 or greater");
        }
        if (packed.m_length - from < count * Double.BYTES) {
            throw badArgument(2, "unpackFrom", "data string too short");
        }
        ByteBuffer bytes = ByteBuffer.wrap(packed.m_bytes, packed.m_offset + from, count * Double.BYTES);
        LuaValue[] numbers = new LuaValue[count + 1];
        for (int i = 0; i < count; i++) {
            numbers[i] = LuaValue.valueOf(bytes.getDouble());
        }
        numbers[count] = LuaValue.valueOf(from + count * Double.BYTES + 1);
        return LuaValue.varargsOf(numbers);
    }

    /** The number of doubles in a format, {@code >d} or {@code >dd} and so on. */
    private static int doubles(Varargs arguments) {
        LuaString format = arguments.checkstring(1);
        for (int i = 0; i < format.m_length; i++) {
            if (format.luaByte(i) != (i == 0 ? '>' : 'd')) {
                throw new UnsupportedOperationException("struct format " + format);
            }
        }
        return format.m_length - 1;
    }

    /** The functions are named as our scripts name them. */
    private static LuaError badArgument(int position, String function, String problem) {
        return new LuaError("bad argument #" + position + " to '" + function + "' (" + problem + ")");
    }
}

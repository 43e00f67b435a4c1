package dev.ratelimit.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.redis.server.ScriptServer.Data;
import dev.ratelimit.redis.server.ScriptServer.State;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisNoScriptException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The expected texts are those of Redis 7.0. */
class ScriptServerTest {

    private static final String READ = "local value = redis.call('MGET', KEYS[1])[1] return {value and #value or -1}";
    private static final String SET = """
            local call = redis.call
            call('PSETEX', KEYS[1], 1000, ARGV[1])
            return {1}""";
    private static final String DELETE_AND_SET = "redis.call('DEL', 'other')\n" + SET;
    private static final String KEY = "k";

    private long micros = 1_700_000_000_123_456L;
    private final ScriptServer server = new ScriptServer(() -> micros);

    private long[] eval(String script, String... arguments) {
        byte[][] bytes = IntStream.range(0, arguments.length)
                .mapToObj(i -> arguments[i].getBytes(StandardCharsets.US_ASCII))
                .toArray(byte[][]::new);
        return server.eval(script, new String[] {KEY}, bytes);
    }

    private void assertFails(String script, String error) {
        assertThatExceptionOfType(RedisCommandExecutionException.class)
                .isThrownBy(() -> eval(script, "abc"))
                .withMessage(error.replace("SHA", CompiledScript.of(script).sha()));
    }

    @Test
    void eval_numbers_areTruncatedAsOnX86() {
        assertThat(eval("return {1, 2.9, -2.9, 0/0, 1/0, 1e300, 4503599627370497}"))
                .containsExactly(1, 2, -2, Long.MIN_VALUE, Long.MIN_VALUE, Long.MIN_VALUE, 4503599627370497L);
    }

    @Test
    void eval_time_isTheClockInSecondsAndMicros() {
        assertThat(eval("local time = redis.call('TIME') return {time[1] * 1, time[2] * 1}"))
                .containsExactly(1_700_000_000, 123_456);
    }

    @Test
    void evalSha_onlyLoadedScripts_areRun() {
        String sha = CompiledScript.of(SET).sha();
        byte[][] arguments = {{1}};
        assertThatThrownBy(() -> server.evalSha(sha, new String[] {KEY}, arguments))
                .isInstanceOf(RedisNoScriptException.class)
                .hasMessage("NOSCRIPT No matching script. Please use EVAL.");

        eval(SET, "abc");
        assertThat(server.evalSha(sha, new String[] {KEY}, arguments)).containsExactly(1);

        server.flushScripts();
        assertThatThrownBy(() -> server.evalSha(sha, new String[] {KEY}, arguments))
                .isInstanceOf(RedisNoScriptException.class);
    }

    @Test
    void psetex_key_livesToItsLastMillisecond() {
        eval(SET, "abc");
        assertThat(server.remainingMillis(KEY)).isEqualTo(1000);

        micros += 1_000_543;
        assertThat(eval(READ)).containsExactly(3);
        assertThat(server.remainingMillis(KEY)).isZero();

        micros++;
        assertThat(eval(READ)).containsExactly(-1);
        assertThat(server.remainingMillis(KEY)).isEqualTo(-2);
        assertThat(server.size()).isZero();
    }

    @Test
    void psetex_clockSetBack_keepsTheKeyLonger() {
        eval(SET, "abc");

        micros += 5_000_000;
        micros -= 6_000_000;

        assertThat(server.remainingMillis(KEY)).isEqualTo(2000);
        assertThat(server.get(KEY)).asString(StandardCharsets.US_ASCII).isEqualTo("abc");
    }

    @Test
    void psetex_timesThatRedisRejects_areErrors() {
        String script = "local call = redis.call call('PSETEX', KEYS[1], %s, 'x') return {1}";

        assertFails(
                script.formatted("0"), "ERR invalid expire time in 'psetex' command script: SHA, on @user_script:1.");
        assertFails(
                script.formatted("1.5"), "ERR value is not an integer or out of range script: SHA, on @user_script:1.");
        assertFails(
                script.formatted("1e17"),
                "ERR value is not an integer or out of range script: SHA, on @user_script:1.");
        assertThat(server.size()).isZero();
    }

    @Test
    void put_anotherType_existsButReadsAsFalse() {
        server.put(KEY, List.of("x"));

        assertThat(eval("return {redis.call('EXISTS', KEYS[1]), redis.call('MGET', KEYS[1])[1] and 1 or 0}"))
                .containsExactly(1, 0);
        assertThat(server.get(KEY)).isNull();
        assertThat(server.remainingMillis(KEY)).isEqualTo(-1);

        assertThat(eval("return {redis.call('DEL', KEYS[1], 'other')}")).containsExactly(1);
        assertThat(server.size()).isZero();
    }

    /** What the script returns, which consists of texts. */
    private List<String> texts(String script) {
        return server.evalTexts(script, new String[] {KEY}, new byte[0][]).stream()
                .map(text -> new String(text, StandardCharsets.US_ASCII))
                .toList();
    }

    @Test
    void hset_fields_areReadUntilTheKeyExpires() {
        String read = "local all = redis.call('HMGET', KEYS[1], 'a', 'b') return {all[1] or '-', all[2] or '-'}";
        assertThat(
                        texts(
                                "local set = redis.call return {set('HSET', KEYS[1], 'a', 1) .. '', set('HSET', KEYS[1], 'a', 2) .. ''}"))
                .containsExactly("1", "0");
        assertThat(texts(read)).containsExactly("2", "-");
        assertThat(server.remainingMillis(KEY)).isEqualTo(-1);
        Data before = server.snapshot();

        assertThat(eval("return {redis.call('PEXPIRE', KEYS[1], '1000'), redis.call('PEXPIRE', 'other', 1000)}"))
                .containsExactly(1, 0);
        eval("redis.call('HSET', KEYS[1], 'b', 3) return {}");
        assertThat(texts(read)).containsExactly("2", "3");
        assertThat(server.remainingMillis(KEY)).isEqualTo(1000);
        micros += 1_001_000;
        assertThat(texts(read)).containsExactly("-", "-");

        server.restore(before);
        assertThat(texts(read)).containsExactly("2", "-");
        assertThat(eval("return {redis.call('PEXPIRE', KEYS[1], 0)}")).containsExactly(1);
        assertThat(server.keys()).isEmpty();
    }

    @Test
    void hashes_andTexts_areNotConfused() {
        String wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
        eval(SET, "abc");
        assertThat(texts("return {redis.pcall('HMGET', KEYS[1], 'a').err}")).containsExactly(wrong);
        assertFails("redis.call('HSET', KEYS[1], 'a', 1) return {}", wrong + " script: SHA, on @user_script:1.");

        eval("redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'a', 1) return {}");
        assertThat(eval(READ)).containsExactly(-1);
        eval(SET, "abc");
        assertThat(eval(READ)).containsExactly(3);
    }

    @Test
    void restore_snapshot_losesLaterWrites() {
        eval(SET, "abc");
        Data before = server.snapshot();
        eval(SET, "longer");

        ScriptServer replica = new ScriptServer(() -> micros);
        replica.restore(before);
        replica.flushAll();
        replica.restore(before);
        server.flushAll();

        assertThat(replica.get(KEY)).asString(StandardCharsets.US_ASCII).isEqualTo("abc");
        assertThat(replica.remainingMillis(KEY)).isEqualTo(1000);
        assertThat(server.get(KEY)).isNull();
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {"LOADING", "BUSY", "CLUSTER_DOWN", "NOT_AUTHENTICATED", "NO_PERMISSION"})
    void state_refusesRequests_beforeTheScriptIsLookedUp(State state) {
        server.state(state);

        assertFails(READ, state.error());
        assertThatThrownBy(() -> server.evalSha("f", new String[] {KEY}, new byte[0][]))
                .hasMessage(state.error());
        server.state(State.HEALTHY);
        assertThat(eval(READ)).containsExactly(-1);
    }

    @Test
    void state_ofTheClient_isItsException() {
        server.state(State.LOADING);
        assertThatThrownBy(() -> eval(READ)).isInstanceOf(RedisLoadingException.class);
        server.state(State.BUSY);
        assertThatThrownBy(() -> eval(READ)).isInstanceOf(RedisBusyException.class);
    }

    @Test
    void state_masterDown_refusesKnownScripts() {
        server.state(State.MASTER_DOWN);

        assertFails(READ, "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
        assertThatThrownBy(() -> server.evalSha("f", new String[] {KEY}, new byte[0][]))
                .isInstanceOf(RedisNoScriptException.class);
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {
                "READ_ONLY",
                "NO_REPLICAS",
                "CANNOT_SAVE",
                "CLUSTER_READS_ONLY",
                "OUT_OF_MEMORY",
                "NO_PERMISSION_TO_CHANGE"
            })
    void state_refusesChanges_inTheScript(State state) {
        eval(SET, "before");
        server.state(state);

        assertFails(SET, state.error() + " script: SHA, on @user_script:2.");
        assertThat(eval(READ)).containsExactly(6);
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {
                "READ_ONLY",
                "NO_REPLICAS",
                "CANNOT_SAVE",
                "CLUSTER_READS_ONLY",
                "NO_PERMISSION_TO_DELETE",
                "NO_PERMISSION_TO_CHANGE"
            })
    void state_refusesChanges_alsoDeletions(State state) {
        server.state(state);

        assertFails(DELETE_AND_SET, state.error() + " script: SHA, on @user_script:1.");
    }

    @Test
    void state_outOfMemory_letsAScriptGoOnThatHasChangedAKey() {
        server.state(State.OUT_OF_MEMORY);

        assertThat(eval(DELETE_AND_SET, "abc")).containsExactly(1);
        assertThat(server.size()).isOne();
    }

    @ParameterizedTest
    @EnumSource(value = State.class, mode = Mode.EXCLUDE, names = "HEALTHY")
    void flushed_inAnyState_isEmptyAndRecovers(State state) {
        eval(SET, "abc");
        server.state(state);

        server.flushAll();
        server.state(State.HEALTHY);

        assertThat(eval(READ)).containsExactly(-1);
    }

    @Test
    void clustered_keysOfTwoSlots_areRefused() {
        server.clustered();
        byte[][] none = {};

        assertThatThrownBy(() -> server.eval(READ, new String[] {"a", "b"}, none))
                .hasMessage("CROSSSLOT Keys in request don't hash to the same slot");
        assertThat(server.eval(READ, new String[] {"{a}b", "{a}c"}, none)).containsExactly(-1);
    }

    @Test
    void error_returned_isTheReply() {
        assertFails(
                "return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' holds a value')", "WRONGTYPE k holds a value");
    }

    @Test
    void error_ofLua_namesTheLine() {
        assertFails(
                "local unpackFrom = struct.unpack\nlocal x = unpackFrom('>d', ARGV[1], 1)\nreturn {x}",
                "ERR user_script:2: bad argument #2 to 'unpackFrom' (data string too short)"
                        + " script: SHA, on @user_script:2.");
        assertFails(
                "local keys = {}\nfor i = 1, 8000 do keys[i] = 'k' end\nlocal x = {unpack(keys)}\nreturn {1}",
                "ERR user_script:3: too many results to unpack script: SHA, on @user_script:3.");
    }

    @Test
    void error_ofACommand_isATableForPcall() {
        server.state(State.OUT_OF_MEMORY);

        assertThat(eval("local reply = redis.pcall('PSETEX', KEYS[1], 1000, 'x') return {#reply.err}"))
                .containsExactly(State.OUT_OF_MEMORY.error().length());
    }

    @Test
    void globals_ofOtherNames_areErrors() {
        assertFails(
                "local x = nosuch\nreturn {x}",
                "ERR user_script:1: Script attempted to access nonexistent global variable 'nosuch'"
                        + " script: SHA, on @user_script:1.");
        assertFails(
                "leak = 1\nreturn {1}",
                "ERR user_script:1: Attempt to modify a readonly table script: SHA, on @user_script:1.");
        assertFails(
                "local x = redis.call('FLUSHALL')\nreturn {1}",
                "ERR Unknown Redis command called from script script: SHA, on @user_script:1.");
    }

    @Test
    void struct_doubles_areBigEndian() {
        assertThat(eval("""
                local packed = struct.pack('>dd', 1, -2)
                local first, second, next = struct.unpack('>dd', packed)
                return {#packed, first, second, next}""")).containsExactly(16, 1, -2, 17);
        eval("redis.call('PSETEX', KEYS[1], 1000, struct.pack('>d', 1)) return {1}");
        assertThat(server.get(KEY)).containsExactly(0x3f, 0xf0, 0, 0, 0, 0, 0, 0);
    }
}

package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.redis.Script.Algorithm;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptTest {

    private static final Duration HANGS = Duration.ofSeconds(20);

    /** So large that twice the rest of a division is infinite. */
    private static final String HUGE = "15" + "0".repeat(307);

    private static String file(String name) throws IOException {
        try (InputStream lua = Script.class.getResourceAsStream(name)) {
            return new String(lua.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String file(Algorithm algorithm) throws IOException {
        return file(algorithm.name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua");
    }

    @Test
    void of_text_hasTheShaThatTheServerGivesIt() {
        assertThat(Script.of("return 1").sha()).isEqualTo("e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void of_oneAlgorithm_hasItsFileAndNoOther(Algorithm algorithm) throws IOException {
        String text = Script.of(Set.of(algorithm)).text();

        assertThat(text)
                .startsWith(file("begin.lua"))
                .contains(file("before.lua"))
                .endsWith(file("after.lua"));
        for (Algorithm each : Algorithm.values()) {
            assertThat(text.contains(file(each)))
                    .isEqualTo(
                            each == algorithm || (each == Algorithm.SLIDING_LOG && algorithm == Algorithm.CONCURRENCY));
        }
        assertThat(text.contains(file("all-token-buckets.lua"))).isEqualTo(algorithm == Algorithm.TOKEN_BUCKET);
    }

    @Test
    void ofAll_hasEachFile() throws IOException {
        for (Algorithm each : Algorithm.values()) {
            assertThat(Script.ofAll().text()).contains(file(each));
        }
        assertThat(Script.ofAll().text()).doesNotContain(file("all-token-buckets.lua"));
    }

    @Test
    void of_sameAlgorithms_isComposedOnce() {
        assertThat(Script.of(EnumSet.of(Algorithm.SLIDING_LOG, Algorithm.FIXED_WINDOW)))
                .isSameAs(Script.of(Set.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_LOG)));
    }

    @Test
    void letter_eachAlgorithm_hasItsOwn() {
        assertThat(EnumSet.allOf(Algorithm.class)).extracting(Algorithm::letter).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "f;0;1000;0;;",
                "f;5;0;0;;",
                "s;0;1000;0;;",
                "s;5;0;0;;",
                "l;5;0;0;;",
                "i;0;1;1;;",
                "t;0;1;1;;",
                "t;5;1;9;;",
                "t;5;1;0;;"
            })
    @DisplayName("a notation that no limit has is refused at once: the script would not end, and the server would hang")
    void ofAll_valueHasImpossibleNotation_refusesIt(String notation) {
        refuses(notation, 0, 0, 0);
    }

    @Test
    void ofAll_valueHasHugeNumbers_refusesIt() {
        refuses("t;" + HUGE + ";1;15" + "0".repeat(304) + ";;", 1e308, 0, 0);
        refuses("s;10;" + HUGE + ";0;;", -0.5e308, 0x1p53 - 1, 0);
    }

    private static void refuses(String notation, double... state) {
        ScriptServer server = new ScriptServer(() -> 1_800_000_000_000_000L);
        Batch batch = new Batch(0, 0);
        batch.add(
                Policy.of("p", FixedWindow.of(Rate.parse("10/minute"))).charge("k"),
                List.of(RedisLimits.of(FixedWindow.of(Rate.parse("10/minute")))),
                "key:");
        ByteBuffer value = ByteBuffer.allocate(notation.length() + state.length * Double.BYTES)
                .put(notation.getBytes(StandardCharsets.US_ASCII));
        for (double number : state) {
            value.putDouble(number);
        }
        server.put("key:0", value.array());

        Call call = Call.of(Script.ofAll(), List.of(batch), Operation.CHARGE, 1L << 52, 0);
        long[] whole = assertTimeoutPreemptively(
                HANGS, () -> server.eval(call.script().text(), call.keys(), call.arguments()));

        Reply reply = Reply.of(whole, call, List.of(batch), Operation.CHARGE).get(0);
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> reply.usable())
                .withMessage("WRONGTYPE key:0 holds a value that no limit wrote");
    }
}

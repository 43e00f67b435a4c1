package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.Reply.Verdict;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.StoreFailure;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The answers to batches in one reply. */
class ReplyTest {

    private static final Rate RATE = Rate.parse("10/minute");

    /** One number and three numbers of state. */
    private static final Batch BATCH = batch(Policy.of("p", TokenBucket.of(RATE), FixedWindow.of(RATE)));

    private static Batch batch(Policy policy) {
        Batch batch = new Batch(0, 0);
        batch.add(
                policy.charge("k"),
                policy.limits().stream().map(RedisLimits::of).toList(),
                "key:");
        return batch;
    }

    /** Asks 7. */
    private static final Call CALL = new Call(Script.ofAll(), false, 7, new String[0], new byte[0][]);

    private static List<Reply> charged(int batches, long... whole) {
        return Reply.of(whole, CALL, Stream.generate(() -> BATCH).limit(batches).toList(), Operation.CHARGE);
    }

    @Test
    void of_batches_eachHasItsVerdictAndItsNumbers() {
        List<Reply> replies = charged(4, 123, 7, 1, 5, 6, 7, 8, -1, 0, 15, 16, 17, 18, -2);

        assertThat(replies)
                .extracting(Reply::verdict)
                .containsExactly(Verdict.ADMITTED, Verdict.LACKS_ALGORITHM, Verdict.REFUSED, Verdict.OUT_OF_CALENDAR);
        assertThat(replies).extracting(Reply::nowMicros).containsOnly(123L);
        assertThat(replies.get(0).numbers()).containsExactly(5, 6, 7, 8);
        assertThat(replies.get(2).numbers()).containsExactly(15, 16, 17, 18);
    }

    @ParameterizedTest
    @CsvSource({"1, true, true", "0, true, false", "-1, false, false", "-2, false, false", "-4, false, false"})
    void decided_verdict_isThatAllOrNotAllAdmitted(long number, boolean decided, boolean admitted) {
        long[] whole = decided ? new long[] {123, 7, number, 5, 6, 7, 8} : new long[] {123, 7, number};
        Reply reply = charged(1, whole).get(0);

        assertThat(reply.decided()).isEqualTo(decided);
        assertThat(reply.admitted()).isEqualTo(admitted);
    }

    @Test
    void of_refundOrReset_hasNoNumbers() {
        for (Operation operation : List.of(Operation.REFUND, Operation.RESET)) {
            assertThat(Reply.of(new long[] {123, 7, 1}, CALL, List.of(BATCH), operation)
                            .get(0)
                            .admitted())
                    .isTrue();
        }
    }

    @Test
    void usable_keyOfAnotherKind_namesIt() {
        List<Reply> replies = charged(3, 123, 7, -4, 1, 5, 6, 7, 8, -3);

        assertThat(replies.get(1).usable()).isSameAs(replies.get(1));
        assertUnusable(replies.get(0), "key:1");
        assertUnusable(replies.get(2), "key:0");
    }

    private static void assertUnusable(Reply reply, String key) {
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> reply.usable())
                .withMessage("WRONGTYPE " + key + " holds a value that no limit wrote")
                .extracting(StoreFailure::reason)
                .isEqualTo(RedisStoreFailure.WRONG_TYPE);
    }

    static Stream<long[]> otherReplies() {
        return Stream.of(
                new long[] {},
                new long[] {123},
                new long[] {123, 7, 2},
                new long[] {123, 7, Long.MAX_VALUE},
                new long[] {123, 7, Long.MIN_VALUE},
                // the batch has two limits
                new long[] {123, 7, -5},
                new long[] {123, 7, 1, 5, 6, 7},
                new long[] {123, 7, 1, 5, 6, 7, 8, 9},
                new long[] {123, 7, -1, 5},
                // the reply to another question
                new long[] {123, 8},
                new long[] {123, 8, 1, 5, 6, 7, 8});
    }

    @Test
    void of_chargeThatCameTooLate_isVoidForAll() {
        List<Reply> replies = charged(2, 123, 7);

        assertThat(replies).extracting(Reply::verdict).containsExactly(Verdict.VOID, Verdict.VOID);
        assertThat(replies).extracting(Reply::nowMicros).containsOnly(123L);
    }

    @Test
    void of_peekWithoutVerdicts_isAFailure() {
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> Reply.of(new long[] {123, 7}, CALL, List.of(BATCH), Operation.PEEK));
    }

    @ParameterizedTest
    @MethodSource("otherReplies")
    void of_otherReply_isAFailure(long[] whole) {
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(() -> charged(1, whole))
                .withMessageContaining("unexpected reply to a rate limit script");
    }
}

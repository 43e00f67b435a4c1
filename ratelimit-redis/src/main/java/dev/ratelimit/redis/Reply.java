package dev.ratelimit.redis;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.remote.Answer;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.StoreFailure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The reply of a script to one batch: a part of the whole reply to a command.
 *
 * @param batch what was asked
 * @param verdict whether all limits admitted, or why the script could not decide
 * @param nowMicros the server's time
 * @param numbers the limits' states, one after another; see {@link RedisLimit}. If a key is unusable, the position of
 *     its limit
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
record Reply(Batch batch, Verdict verdict, long nowMicros, long[] numbers) implements Answer {

    enum Verdict {
        ADMITTED,
        REFUSED,
        /** The limit has changed, and the script does not contain the former algorithm. */
        LACKS_ALGORITHM,
        /** The calendar boundaries passed to the script do not surround the server's time. */
        OUT_OF_CALENDAR,
        /** A key holds a value that no limit wrote. */
        UNUSABLE_KEY,
        /** The server got to the charge too late, so that it charged nothing. */
        VOID
    }

    private static final int FIRST_UNUSABLE = -3;
    private static final long[] NOTHING = {};

    /**
     * Splits the whole reply to a call into the replies to its batches.
     *
     * @throws StoreFailure if it is not the reply to this call: something else may have replied in place of the server, or
     *     the connection is out of step
     */
    static List<Reply> of(long[] whole, Call call, List<Batch> batches, Operation operation) {
        if (whole.length < 2 || whole[1] != call.question()) {
            throw unexpected();
        }
        if (whole.length == 2 && operation == Operation.CHARGE) {
            return batches.stream()
                    .map(batch -> new Reply(batch, Verdict.VOID, whole[0], NOTHING))
                    .toList();
        }
        List<Reply> replies = new ArrayList<>(batches.size());
        int at = 2;
        for (Batch batch : batches) {
            if (at >= whole.length) {
                throw unexpected();
            }
            Verdict verdict = verdict(whole[at], batch);
            boolean decided = verdict == Verdict.ADMITTED || verdict == Verdict.REFUSED;
            int count = decided && operation.hasStatuses() ? batch.numbers() : 0;
            if (count >= whole.length - at) {
                throw unexpected();
            }
            long[] numbers = verdict == Verdict.UNUSABLE_KEY
                    ? new long[] {FIRST_UNUSABLE - whole[at]}
                    : Arrays.copyOfRange(whole, at + 1, at + 1 + count);
            replies.add(new Reply(batch, verdict, whole[0], numbers));
            at += 1 + count;
        }
        if (at != whole.length) {
            throw unexpected();
        }
        return replies;
    }

    private static Verdict verdict(long number, Batch batch) {
        if (number > 1 || number < FIRST_UNUSABLE + 1 - batch.entries().size()) {
            throw unexpected();
        }
        return switch ((int) number) {
            case 1 -> Verdict.ADMITTED;
            case 0 -> Verdict.REFUSED;
            case -1 -> Verdict.LACKS_ALGORITHM;
            case -2 -> Verdict.OUT_OF_CALENDAR;
            default -> Verdict.UNUSABLE_KEY;
        };
    }

    /** The failure for a reply that does not fit its question. */
    static StoreFailure unexpected() {
        return new StoreFailure(
                RedisStoreFailure.UNEXPECTED, "unexpected reply to a rate limit script; the connection is replaced");
    }

    /**
     * Checks that the script decided, or can decide if it is asked again.
     *
     * @throws StoreFailure if no script can
     */
    Reply usable() {
        if (verdict == Verdict.UNUSABLE_KEY) {
            throw new StoreFailure(
                    RedisStoreFailure.WRONG_TYPE,
                    "WRONGTYPE " + batch.entries().get((int) numbers[0]).key() + " holds a value that no limit wrote");
        }
        return this;
    }

    /** Whether the script reached a decision. */
    boolean decided() {
        return verdict == Verdict.ADMITTED || verdict == Verdict.REFUSED;
    }

    @Override
    public boolean admitted() {
        return verdict == Verdict.ADMITTED;
    }

    @Override
    public List<List<LimitStatus>> statuses() {
        return batch.statuses(this);
    }
}

package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final LimitAlgorithm BUCKET = TokenBucket.of(Rate.parse("3/minute"));

    private final StoreClock clock = new StoreClock(new SetTicker());

    private static Table tableOf(int slots, long... hashes) {
        Table table = new Table(slots, 1, false);
        for (long hash : hashes) {
            int slot = table.homeSlot(hash);
            while (table.occupied(slot)) {
                slot = table.nextSlot(slot);
            }
            table.clear(slot, BUCKET, 0);
            table.publish(slot, hash, BUCKET);
        }
        return table;
    }

    /** A hash whose search starts at the first slot or, if all its bits are ones, at the last. */
    private static long hash(long bits, int number) {
        return Long.MIN_VALUE | bits >>> 10 << 10 | (long) number << 7;
    }

    private static LimitAlgorithm bucketOf(long burst) {
        return TokenBucket.of(Rate.parse("3/minute"), burst);
    }

    @ParameterizedTest
    @CsvSource({"8, 1, false", "1000, 1, false", "1000, 2, false", "1000, 4, true"})
    void bytes_areWhatTheArraysTake(int slots, int stateSize, boolean growing) {
        new Table(slots, stateSize, growing);
        long before = THREADS.getCurrentThreadAllocatedBytes();

        Table table = new Table(slots, stateSize, growing);

        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated - table.bytes()).isBetween(0L, 200L + 4 * TableLimits.NUMBERED);
    }

    @Test
    void find_tableOfNoSlots_isNone() {
        assertThat(new Table(0, 1, false).find(KeyHash.of("k"))).isEqualTo(Table.NONE);
    }

    @Test
    void find_everySlotTakenByOthers_isNone() {
        long[] hashes = IntStream.range(0, 8).mapToLong(i -> hash(0, i)).toArray();

        Table table = tableOf(8, hashes);

        assertThat(table.find(hash(0, 9))).isEqualTo(Table.NONE);
        assertThat(Arrays.stream(hashes)).allMatch(hash -> table.find(hash) != Table.NONE);
    }

    @Test
    void find_afterTheLastSlot_goesOnAtTheFirst() {
        long last = Long.MAX_VALUE;

        Table table = tableOf(8, hash(last, 1), hash(last, 2), hash(last, 3));

        assertThat(table.find(hash(last, 1))).isEqualTo(7 * 2);
        assertThat(table.find(hash(last, 2))).isZero();
        assertThat(table.find(hash(last, 3))).isEqualTo(2);
        assertThat(table.find(hash(last, 4))).isEqualTo(Table.NONE);
    }

    @Test
    void find_keyBeforeItWasRemovedOrMoved_goesOn() {
        Table table = tableOf(8, hash(0, 1), hash(0, 2), hash(0, 3));
        assertThat(table.tryLock(0)).isTrue();
        table.remove(0);
        assertThat(table.tryLock(2)).isTrue();
        table.moved(2);

        assertThat(table.find(hash(0, 1))).isEqualTo(Table.NONE);
        assertThat(table.find(hash(0, 2))).isEqualTo(Table.NONE);
        assertThat(table.find(hash(0, 3))).isEqualTo(4);
        assertThat(table.neverUsed(0)).isFalse();
        assertThat(table.lock(2, hash(0, 2))).isFalse();
        assertThat(table.tryCharge(0, hash(0, 1), BUCKET, 1, clock)).isEqualTo(Outcome.GONE);
    }

    @Test
    void first_anyHash_isASlot() {
        for (int slots : new int[] {1, 7, 8, 1000, 24_577}) {
            Table table = new Table(slots, 3, false);
            for (int i = 0; i < 20_000; i++) {
                assertThat(table.homeSlot(KeyHash.of("k" + i))).isBetween(0, (slots - 1) * 4);
                assertThat(table.homeSlot(KeyHash.of("k" + i)) % 4).isZero();
            }
            assertThat(table.homeSlot(hash(0, 0))).isZero();
            assertThat(table.homeSlot(-128)).isEqualTo((slots - 1) * 4);
        }
    }

    @Test
    void tryCharge_anotherLimit_isReportedAndNotCharged() {
        Table table = tableOf(8, hash(0, 1));
        LimitAlgorithm other = TokenBucket.of(Rate.parse("4/minute"));

        assertThat(table.tryCharge(0, hash(0, 1), other, 1, clock)).isEqualTo(Outcome.OTHER_LIMIT);
        assertThat(table.tryChargeLocked(0, hash(0, 1), other, 1, clock)).isEqualTo(Outcome.OTHER_LIMIT);
        assertThat(table.tryCharge(0, hash(0, 1), BUCKET, 3, clock)).isEqualTo(Outcome.ADMITTED);
        assertThat(table.tryCharge(0, hash(0, 1), BUCKET, 1, clock)).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void publish_moreLimitsThanNumbers_eachKeyKeepsItsOwn() {
        int keys = 2 * TableLimits.NUMBERED;
        Table table = new Table(keys, 1, false);
        for (int i = 0; i < keys; i++) {
            LimitAlgorithm limit = bucketOf(1 + i);
            table.clear(2 * i, limit, 0);
            table.publish(2 * i, hash(0, i), limit);
            assertThat(table.lacksNumbers()).isEqualTo(i >= TableLimits.NUMBERED);
        }

        for (int i = 0; i < keys; i++) {
            LimitAlgorithm limit = bucketOf(1 + i);
            LimitAlgorithm other = bucketOf(2 + i);
            assertThat(table.limit(2 * i)).isEqualTo(limit);
            assertThat(table.tryCharge(2 * i, hash(0, i), other, 1, clock)).isEqualTo(Outcome.OTHER_LIMIT);
            assertThat(table.tryCharge(2 * i, hash(0, i), limit, 1 + i, clock)).isEqualTo(Outcome.ADMITTED);
            assertThat(table.tryCharge(2 * i, hash(0, i), limit, 1, clock)).isEqualTo(Outcome.REFUSED);
        }
    }

    @Test
    void fits_stateTooLongOrGrowing_doesNot() {
        LimitAlgorithm window = FixedWindow.of(Rate.parse("3/minute"));
        LimitAlgorithm log = SlidingLog.of(Rate.parse("3/minute"));

        assertThat(new Table(8, 1, false).fits(BUCKET)).isTrue();
        assertThat(new Table(8, 1, false).fits(window)).isFalse();
        assertThat(new Table(8, 2, false).fits(window)).isTrue();
        assertThat(new Table(8, 9, false).fits(log)).isFalse();
        assertThat(new Table(8, 1, true).fits(log)).isTrue();
    }
}

package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A slot that is reused for another key, and then for the first one again, while a charge reads it without a lock. */
@Tag("nightly")
class SlotLincheckTest {

    /** Lincheck's own limit, half a minute of real time, is over early while it transforms classes on a busy machine. */
    private static final long HANGS_MILLIS = 300_000;

    private static final LimitAlgorithm LIMIT = TokenBucket.of(Rate.parse("2/hour"));
    private static final StoreClock CLOCK = new StoreClock(new Ticker() {
        @Override
        public long nanos() {
            return 0;
        }

        @Override
        public long epochNanos() {
            return 0;
        }
    });

    /** The results of charges to a key that is always full: it is never refused. */
    public static class Sequential {

        public boolean isRefused() {
            return false;
        }

        public void comeBack() {}
    }

    /** A table of one slot. Its key is replaced by another one, which is exhausted, and returns later. */
    public static class Slot {

        private static final long KEY = KeyHash.of("key");
        private static final long OTHER = KeyHash.of("other");

        private final Table table = new Table(1, 1, false);
        private final int slot = table.homeSlot(KEY);
        private final long header;

        public Slot() {
            come(KEY);
            header = table.unlockedHeader(slot, KEY, LIMIT);
            table.remove(slot);
            come(OTHER);
            table.tryCharge(slot, OTHER, LIMIT, 2, CLOCK);
        }

        private void come(long hash) {
            table.clear(slot, LIMIT, 0);
            table.publish(slot, hash, LIMIT);
        }

        @Operation
        public boolean isRefused() {
            return table.tryChargeOptimistic(slot, header, LIMIT, 1, CLOCK) == Outcome.REFUSED;
        }

        @Operation
        public void comeBack() {
            if (table.lock(slot, OTHER)) {
                table.remove(slot);
                come(KEY);
            }
        }
    }

    @Test
    @DisplayName("B2 no refusal because of a key that was in the slot in between")
    void tryChargeMarked_slotChangesHands_modelChecking() {
        new ModelCheckingOptions()
                .sequentialSpecification(Sequential.class)
                .threads(2)
                .actorsPerThread(1)
                .actorsBefore(0)
                .actorsAfter(0)
                .invocationTimeout$lincheck(HANGS_MILLIS)
                .iterations(10)
                .invocationsPerIteration(200)
                .check(Slot.class);
    }
}

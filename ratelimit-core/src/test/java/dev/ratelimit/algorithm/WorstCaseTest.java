package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The maximum in one window's length, found by trying every schedule: the figures in the docs. */
@DisplayName("A10 the worst case of all schedules is the one in the docs")
class WorstCaseTest {

    /** Every schedule of this many ticks of a nanosecond; at each tick, every number of admitted permits. */
    private static final class Search {
        private final int window;
        private final int first;
        private final int[] taken;
        private int most;

        Search(LimitAlgorithm limit, int first) {
            this.window = (int) limit.rate().periodNanos();
            this.first = first;
            this.taken = new int[2 * window + 1];
            from(0, new Key(limit, first));
        }

        private void from(int tick, Key key) {
            if (tick == taken.length) {
                most = Math.max(most, maxInAWindow());
                return;
            }
            long now = (long) first + tick;
            for (int permits = (int) key.remaining(now); permits >= 0; permits--) {
                Key next = key.copy();
                next.charge(permits, now);
                taken[tick] = permits;
                from(tick + 1, next);
            }
        }

        private int maxInAWindow() {
            int best = 0;
            for (int start = 0; start + window <= taken.length; start++) {
                int sum = 0;
                for (int tick = start; tick < start + window; tick++) {
                    sum += taken[tick];
                }
                best = Math.max(best, sum);
            }
            return best;
        }
    }

    private static int worstCase(int permits, int window, Function<Rate, LimitAlgorithm> algorithm) {
        LimitAlgorithm limit = algorithm.apply(Rate.of(permits, Duration.ofNanos(window)));
        int most = 0;
        for (int first = 0; first < window; first++) {
            most = Math.max(most, new Search(limit, first).most);
        }
        return most;
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "1, 6", "2, 3", "2, 6", "3, 3", "3, 6", "4, 2", "4, 5", "4, 6"})
    void everySchedule_staysWithinTheDocumentedWorstCase(int n, int window) {
        assertThat(worstCase(n, window, SlidingLog::of)).isEqualTo(n);
        assertThat(worstCase(n, window, FixedWindow::of)).isEqualTo(2 * n - 1);
        assertThat(worstCase(n, window, rate -> FixedWindow.onClock(rate, ZoneOffset.UTC)))
                .isEqualTo(2 * n);
        assertThat(worstCase(n, window, TokenBucket::of)).isBetween(n, 2 * n - 1);
        assertThat(worstCase(n, window, SlidingWindow::of)).isBetween(n, 2 * n - 1);
        assertThat(worstCase(n, window, rate -> SlidingWindow.of(rate, Rounding.FLOOR)))
                .isBetween(n, 2 * n);
    }

    @ParameterizedTest
    @CsvSource({"2, 5"})
    void slidingWindowFloor_reachesTwice(int n, int window) {
        assertThat(worstCase(n, window, rate -> SlidingWindow.of(rate, Rounding.FLOOR)))
                .isGreaterThan(n);
    }
}

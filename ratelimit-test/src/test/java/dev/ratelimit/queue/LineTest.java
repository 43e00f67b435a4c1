package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What no caller of a queue can see alone. */
class LineTest {

    private static final Policy HUGE = Policy.of("huge", FixedWindow.of(Rate.of(1L << 62, Duration.ofDays(1))));
    private static final Waiting WAITING = Waiting.of(Duration.ofSeconds(9), 10);

    private static Waiter waiter(long number, Charge charge) {
        Decision refusal = new Decision(false, List.of(charge), List.of(), null);
        Waiter waiter = new Waiter(new CompletableFuture<>(), List.of(charge), () -> refusal, charge, refusal, 0);
        waiter.number = number;
        return waiter;
    }

    @Test
    void permits_beyondALong_areTheSumAgainWhenSomeHaveLeft() {
        Line line = new Line(new Room("huge", WAITING), "k");
        List<Waiter> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            all.add(waiter(i, HUGE.charge("k", 1L << 62)));
            line.reserve(all.get(i));
            line.enter(all.get(i), all.get(i).at);
        }
        assertThat(line.permits()).isEqualTo(Long.MAX_VALUE);

        all.subList(1, 9).forEach(line::remove);

        assertThat(line.permits()).isEqualTo(1L << 62);
    }

    /** A thread may have read the deadline before another one has moved it. */
    @Test
    void expiry_keepsTheEarlierAlarm_whicheverIsSetFirst() {
        Hall hall = new Hall(Map.of("huge", WAITING));
        Waiter waiter = waiter(0, HUGE.charge("k"));
        assertThat(hall.join(waiter, 0, 0, null, Turn.brief())).isTrue();
        Scheduler.Alarm early = () -> {};
        Scheduler.Alarm late = () -> {};
        Scheduler.Alarm earliest = () -> {};

        assertThat(hall.keeps(waiter, early, 5)).isNull();

        assertThat(hall.keeps(waiter, late, 9)).isSameAs(late);
        assertThat(hall.keeps(waiter, earliest, 3)).isSameAs(early);
    }
}

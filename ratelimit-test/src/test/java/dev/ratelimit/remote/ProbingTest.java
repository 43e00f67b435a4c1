package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Scheduler;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ProbingTest {

    private final FakeTicker time = new FakeTicker();
    private final Server server = new Server();
    private boolean rejects;
    private final Probing probing = new Probing(server, new Scheduler() {
        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            if (rejects) {
                throw new RejectedExecutionException("no more threads");
            }
            return time.schedule(task, delayNanos);
        }
    });

    /** Answers probes when a test says so. */
    private static final class Server implements Probing.Patient {

        private final Deque<CompletableFuture<Void>> probes = new ArrayDeque<>();
        private final List<String> outcomes = new ArrayList<>();
        private boolean ill = true;
        private long untilProbeNanos = 1_000_000_000;
        private boolean throwing;

        @Override
        public boolean ill() {
            return ill;
        }

        @Override
        public long untilProbeNanos() {
            return untilProbeNanos;
        }

        @Override
        public CompletableFuture<?> probe() {
            if (throwing) {
                throw new IllegalStateException("no probe");
            }
            CompletableFuture<Void> probe = new CompletableFuture<>();
            probes.add(probe);
            return probe;
        }

        @Override
        public void probed(@Nullable Throwable failure, boolean early) {
            outcomes.add((early ? "early " : "") + (failure == null ? "well" : "ill"));
        }

        void answer() {
            probes.remove().complete(null);
        }

        void fail() {
            probes.remove().completeExceptionally(new IllegalStateException("still ill"));
        }
    }

    private void seconds(double seconds) {
        time.advance(Duration.ofNanos((long) (seconds * 1e9)));
    }

    @Test
    void begin_noRequestComes_probesAtEachInterval() {
        probing.begin();
        for (int i = 1; i <= 5; i++) {
            seconds(1);
            assertThat(server.probes).hasSize(1);
            server.fail();
        }

        assertThat(server.outcomes).hasSize(5).containsOnly("ill");
    }

    @Test
    void begin_probeSucceedsAndServerIsUsed_probesNoMore() {
        probing.begin();
        seconds(1);
        server.ill = false;
        server.answer();
        seconds(10);

        assertThat(server.probes).isEmpty();
        assertThat(server.outcomes).containsExactly("well");
    }

    @Test
    void begin_probeSucceedsAndMoreAreWanted_goesOn() {
        probing.begin();
        seconds(1);
        server.answer();
        seconds(1);

        assertThat(server.probes).hasSize(1);
    }

    @Test
    void begin_probeIsUnderWay_thereIsNoSecond() {
        probing.begin();
        seconds(3);

        assertThat(server.probes).hasSize(1);
        server.fail();
        seconds(1);
        assertThat(server.probes).hasSize(1);
    }

    @Test
    void connected_lastProbeFailed_probesAtOnceAndOnlyOnce() {
        probing.begin();
        seconds(1);
        server.fail();
        probing.connected();
        assertThat(server.probes).hasSize(1);
        server.fail();
        probing.connected();

        assertThat(server.probes).isEmpty();
        assertThat(server.outcomes).containsExactly("ill", "early ill");
    }

    @Test
    void connected_earlyProbeFails_theNextComesWhenItWasDue() {
        probing.begin();
        seconds(1);
        server.fail();
        seconds(0.7);
        probing.connected();
        server.fail();
        seconds(0.3);

        assertThat(server.probes).hasSize(1);
    }

    @Test
    void connected_earlyProbeSucceedsAndMoreAreWanted_theNextComesSooner() {
        probing.begin();
        seconds(1);
        server.fail();
        probing.connected();
        server.untilProbeNanos = 250_000_000;
        server.answer();
        seconds(0.25);

        assertThat(server.outcomes).containsExactly("ill", "early well");
        assertThat(server.probes).hasSize(1);
    }

    @Test
    void connected_noProbeHasFailed_doesNothing() {
        probing.begin();
        probing.connected();
        server.ill = false;
        probing.connected();

        assertThat(server.probes).isEmpty();
    }

    @Test
    @DisplayName("if the alarm cannot be set, the next request sees to it")
    void ensure_alarmWasRejected_setsIt() {
        rejects = true;
        probing.begin();
        probing.ensure();
        rejects = false;
        probing.ensure();
        probing.ensure();
        seconds(1);

        assertThat(server.probes).hasSize(1);
    }

    @Test
    void probe_throws_countsAsFailureAndTheNextFollows() {
        server.throwing = true;
        probing.begin();
        seconds(1);
        server.throwing = false;
        seconds(1);

        assertThat(server.outcomes).containsExactly("ill");
        assertThat(server.probes).hasSize(1);
    }

    @Test
    void end_probesNoMore() {
        probing.begin();
        seconds(1);
        probing.end();
        server.fail();
        seconds(10);

        assertThat(server.probes).isEmpty();
    }
}

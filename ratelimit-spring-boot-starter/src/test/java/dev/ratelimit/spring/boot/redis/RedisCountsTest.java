package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.instances.InstanceCounts;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.spring.rules.traffic.FrequentKeys.Frequent;
import dev.ratelimit.spring.rules.traffic.TrafficCounts;
import dev.ratelimit.test.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** What instances count together, in virtual time. */
class RedisCountsTest {

    private static final Instant START = Instant.parse("2027-01-01T12:00:00Z");

    private final FakeTicker ticker = new FakeTicker(START);
    private final ScriptedServer server = new ScriptedServer(ticker);

    private final class Instance {

        final RateLimitOperations operations;
        final RedisChanges shared;
        final OutcomeCounter traffic;

        Instance(String name) {
            this(name, true, ticker);
        }

        Instance(String name, boolean showKeys, FakeTicker clock) {
            SharingInstance instance =
                    SharingInstance.of(server, ticker, Map.of("ratelimit.policies.p.limit", "10/hour"), () -> name);
            operations = instance.operations();
            shared = instance.shared();
            operations.share(shared);
            operations.observations().share(shared, showKeys);
            traffic = operations.observations().record(clock, clock);
            read();
        }

        /** As often as in the time between two summaries. */
        void read() {
            for (int i = 0; i < 5; i++) {
                shared.read();
            }
        }

        Instance admit(int requests) {
            IntStream.range(0, requests).forEach(i -> traffic.count("p", Outcome.ADMITTED));
            return this;
        }

        Instance refuse(int requests, String key) {
            for (int i = 0; i < requests; i++) {
                traffic.count("p", Outcome.REFUSED);
                traffic.refused("p", key);
            }
            return this;
        }

        InstanceCounts shown() {
            return operations.observations().counts(true);
        }

        TrafficCounts counts() {
            return Objects.requireNonNull(shown().counts());
        }

        /** The last minutes with admitted requests, the current one last. */
        List<Long> minutes() {
            return Arrays.stream(Objects.requireNonNull(counts().history("p").get("admitted")))
                    .dropWhile(requests -> requests == 0)
                    .boxed()
                    .toList();
        }
    }

    /** The keys with what instances have counted. */
    private List<String> counts() {
        return server.redis.keys().stream()
                .filter(key -> key.startsWith(ScriptedServer.COUNTS))
                .toList();
    }

    @Test
    void counts_areThoseOfAllInstances_afterOneSummary() {
        Instance first = new Instance("a").admit(3);
        Instance second = new Instance("b").admit(4).refuse(2, "alice");
        second.read();
        first.shared.read();

        assertThat(first.counts().counts("p"))
                .containsEntry("admitted", 7L)
                .containsEntry("refused", 2L)
                .containsEntry("waited", 0L);
        assertThat(first.minutes()).containsExactly(7L);
        assertThat(first.shown().instances())
                .containsEntry("counts", "all")
                .containsEntry("running", 2)
                .containsEntry("summed", List.of("a", "b"))
                .containsEntry("missing", List.of())
                .containsEntry("late", Map.of());
        InstanceCounts own = first.operations.observations().counts(false);
        assertThat(own.instances()).isEqualTo(Map.of("counts", "this", "running", 2));
        assertThat(Objects.requireNonNull(own.counts()).counts("p")).containsEntry("admitted", 3L);
    }

    @Test
    void minutes_areThoseOfTheClock_wheneverAnInstanceHasStarted_andTold() {
        Instance first = new Instance("a").admit(1);
        ticker.advance(Duration.ofSeconds(50));
        Instance second = new Instance("b").admit(10);
        second.read();
        first.shared.read();
        ticker.advance(Duration.ofSeconds(10));
        first.admit(2);

        // told before the minute had ended
        assertThat(first.minutes()).containsExactly(11L, 2L);
        second.admit(20).read();
        assertThat(first.minutes()).containsExactly(11L, 22L);
        ticker.advance(Duration.ofSeconds(60));
        second.read();
        assertThat(first.minutes()).containsExactly(11L, 22L, 0L);
        assertThat(first.counts().times())
                .isEqualTo(Map.of(
                        "time", "2027-01-01T12:02:00Z",
                        "since", "2027-01-01T12:00:00Z",
                        "minute", "2027-01-01T12:02:00Z"));
        ticker.advance(Duration.ofSeconds(10));
        first.read();
        second.read();
        assertThat(second.counts().times())
                .containsEntry("since", "2027-01-01T12:00:00Z")
                .containsEntry("minute", "2027-01-01T12:02:00Z");
    }

    @Test
    void instanceWithAnotherClock_isAddedByTheAgeOfItsMinutes() {
        Instance first = new Instance("a").admit(1);
        FakeTicker late = new FakeTicker(START.minus(Duration.ofHours(1)));
        Instance second = new Instance("b", true, late).admit(10);
        late.advance(Duration.ofMinutes(1));
        second.admit(20).read();
        first.shared.read();

        assertThat(first.minutes()).containsExactly(10L, 21L);
    }

    @Test
    void keys_areAddedUp_withTheirBounds() {
        Instance first = new Instance("a").refuse(5, "alice").refuse(1, "bob");
        Instance second = new Instance("b").refuse(7, "alice").refuse(9, "carol");
        second.read();
        first.shared.read();

        assertThat(first.counts().mostRefused("p"))
                .containsExactly(new Frequent("alice", 12, 0), new Frequent("carol", 9, 0), new Frequent("bob", 1, 0));
        assertThat(first.shown().instances()).containsEntry("keys", "all");
    }

    @Test
    void keysThatAnInstanceLeavesOut_haveABound() {
        Instance first = new Instance("a").refuse(5, "alice");
        Instance second = new Instance("b");
        IntStream.range(0, 20).forEach(i -> second.refuse(3, "key " + i));
        second.refuse(2, "alice").read();
        first.shared.read();

        assertThat(first.counts().mostRefused("p").get(0)).isEqualTo(new Frequent("alice", 5, 3));
    }

    @Test
    void keys_areNotTold_unlessEverybodyMaySeeThem() {
        Instance first = new Instance("a").refuse(5, "alice");
        Instance second = new Instance("b", false, ticker).refuse(7, "alice");
        second.read();
        first.shared.read();

        assertThat(first.counts().mostRefused("p")).containsExactly(new Frequent("alice", 5, 0));
        assertThat(first.counts().counts("p")).containsEntry("refused", 12L);
        assertThat(first.shown().instances()).containsEntry("keys", "this");
        assertThat(second.counts().mostRefused("p")).containsExactly(new Frequent("alice", 7, 0));
    }

    @Test
    void instanceThatHangs_isLate_andIsForgottenWhenItDoesNotCountAsRunning() {
        Instance first = new Instance("a").admit(1);
        Instance second = new Instance("b").admit(10);
        second.read();
        ticker.advance(Duration.ofSeconds(20));
        first.read();

        assertThat(first.shown().instances()).containsEntry("late", Map.of("b", 20L));
        assertThat(first.counts().counts("p")).containsEntry("admitted", 11L);
        ticker.advance(Duration.ofSeconds(11));
        first.read();
        assertThat(first.shown().instances()).containsEntry("running", 1).containsEntry("summed", List.of("a"));
        assertThat(first.counts().counts("p")).containsEntry("admitted", 1L);
    }

    @Test
    void instanceThatHasToldNothing_orWhatNobodyCanRead_isMissing_byName() {
        Instance first = new Instance("a").admit(1);
        new Instance("b \u00fc:8080");
        first.shared.read();
        counts().forEach(key -> server.redis.put(key, "1 nonsense".getBytes(StandardCharsets.UTF_8)));

        assertThat(first.shown().instances())
                .containsEntry("summed", List.of("a"))
                .containsEntry("missing", List.of("b \u00fc:8080"));
        ticker.advance(Duration.ofSeconds(31));
        first.read();
        SharingInstance.of(server, ticker, Map.of("ratelimit.policies.p.limit", "10/hour"), () -> "c")
                .shared()
                .read();
        first.read();
        assertThat(first.shown().instances()).containsEntry("missing", List.of("c"));
    }

    @Test
    void instanceThatStops_takesItsCountsWithIt() {
        Instance first = new Instance("a").admit(1);
        Instance second = new Instance("b").admit(10);
        second.read();
        second.shared.leave();
        first.shared.read();

        assertThat(first.shown().instances()).containsEntry("running", 1);
        assertThat(counts()).hasSize(1);
        first.shared.leave();
        assertThat(server.redis.keys()).isEmpty();
    }

    @Test
    void serverThatDoesNotAnswer_leavesTheCountsOfThisInstance_andIsNotAskedAgainForThem() {
        Instance first = new Instance("a").admit(1);
        new Instance("b").admit(10).read();
        first.shared.read();
        server.down = true;

        assertThat(first.shown().instances())
                .containsEntry("counts", "this")
                .containsEntry(
                        "error", "what other instances have counted is not known, because Redis does not answer");
        assertThat(first.counts().counts("p")).containsEntry("admitted", 1L);

        server.down = false;
        assertThat(first.shown().instances()).containsEntry("counts", "this");
        first.shared.read();
        assertThat(first.counts().counts("p")).containsEntry("admitted", 11L);
    }

    @Test
    void serverThatDoesNotAnswer_isNotWaitedFor() throws Exception {
        Instance first = new Instance("a").admit(1);
        server.down = true;
        first.shared.read();
        CountDownLatch reads = new CountDownLatch(1);
        CompletableFuture<Void> shown = new CompletableFuture<>();
        server.atNextScript = () -> {
            reads.countDown();
            shown.join();
        };
        Thread reader = new Thread(first.shared::read);
        reader.start();
        reads.await();

        assertThat(first.shown().instances()).containsEntry("counts", "this").containsKey("error");

        shown.complete(null);
        reader.join();
    }

    @Test
    void summary_isOneScript_everyFiveReads_andNothingIsReadUnlessSomebodyAsks() {
        Instance first = new Instance("a").admit(1);
        int scripts = server.scripts;

        first.read();
        assertThat(server.scripts - scripts).isEqualTo(6);
        first.shown();
        assertThat(server.scripts - scripts).isEqualTo(6);
        new Instance("b");
        first.shared.read();
        scripts = server.scripts;
        first.shown();
        assertThat(server.scripts - scripts).isOne();
    }

    @Test
    void summary_isBounded_andSaysWhatItLeavesOut() {
        Instance first = new Instance("a");
        Instance second = new Instance("b");
        for (int i = 0; i < 70; i++) {
            for (int policy = 0; policy < 300; policy++) {
                second.traffic.count("policy-" + policy, Outcome.ADMITTED);
                second.traffic.count("policy-" + policy, Outcome.REFUSED);
                second.traffic.refused("policy-" + policy, "caller " + i);
            }
            second.traffic.count("policy-299", Outcome.ADMITTED);
            ticker.advance(Duration.ofMinutes(1));
        }
        first.read();
        second.read();
        first.shared.read();

        assertThat(counts())
                .hasSize(2)
                .allSatisfy(key -> assertThat(server.redis.get(key)).hasSizeLessThan(66_000));
        assertThat(first.shown().instances().get("omittedPolicies"))
                .asInstanceOf(InstanceOfAssertFactories.INTEGER)
                .isBetween(50, 150);
        assertThat(first.counts().counts("policy-299")).containsEntry("admitted", 140L);
    }
}

package dev.ratelimit.spring.rules.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.ClientAddress;
import dev.ratelimit.spring.rules.address.ForwardedHeader;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.web.util.pattern.PathPatternParser;

/** Counts since the start, by minute, and by key. */
class TrafficTest {

    private static final RequestContext NOWHERE =
            new RequestContext(new RecordedRequest("GET", "/"), RecordedRequest.sources(Endpoint.NOWHERE, false));

    private final FakeTicker ticker = new FakeTicker();
    private final Traffic traffic = new Traffic(ticker, ticker);

    private void count(int times, Outcome outcome) {
        for (int i = 0; i < times; i++) {
            traffic.count("p", null, outcome, NOWHERE);
        }
    }

    private void refuse(String key) {
        traffic.count("p", key, Outcome.REFUSED, NOWHERE);
    }

    private long[] refusedByMinute() {
        return Objects.requireNonNull(traffic.history("p").get("refused"));
    }

    @Test
    void counts_areByOutcome_sinceTheStart() {
        count(3, Outcome.ADMITTED);
        ticker.advance(Duration.ofHours(3));
        count(2, Outcome.ADMITTED);
        count(1, Outcome.SHADOW_REFUSED);

        assertThat(traffic.counts("p"))
                .containsEntry("admitted", 5L)
                .containsEntry("refused", 0L)
                .containsEntry("shadow-refused", 1L);
        assertThat(traffic.counts("other")).containsEntry("admitted", 0L);
    }

    @Test
    void history_hasTheLastHour_theCurrentMinuteLast() {
        count(1, Outcome.REFUSED);
        ticker.advance(Duration.ofMinutes(2));
        count(5, Outcome.REFUSED);
        ticker.advance(Duration.ofSeconds(61));
        count(7, Outcome.REFUSED);

        assertThat(refusedByMinute()).hasSize(60).endsWith(0, 1, 0, 5, 7);

        ticker.advance(Duration.ofMinutes(56));
        assertThat(refusedByMinute()).startsWith(1, 0, 5, 7, 0);
        ticker.advance(Duration.ofMinutes(1));
        assertThat(refusedByMinute()).startsWith(0, 5, 7, 0);
        ticker.advance(Duration.ofHours(2));
        assertThat(refusedByMinute()).containsOnly(0);
    }

    @Test
    void minutes_areThoseOfTheClock_alsoIfItIsSetBackALittle() {
        FakeTicker clock = new FakeTicker(Instant.parse("2027-01-01T12:00:37Z"));
        Traffic traffic = new Traffic(clock, clock);
        traffic.count("p", null, Outcome.REFUSED, NOWHERE);

        clock.advance(Duration.ofSeconds(23));
        assertThat(traffic.history("p").get("refused")).endsWith(0, 1, 0);
        assertThat(traffic.times())
                .containsEntry("since", "2027-01-01T12:00:37Z")
                .containsEntry("minute", "2027-01-01T12:01:00Z");
        clock.setWallClock(Duration.ofMillis(-100));
        clock.advance(Duration.ofSeconds(60));
        assertThat(traffic.history("p").get("refused")).endsWith(0, 1, 0, 0);
        assertThat(traffic.times())
                .containsEntry("time", "2027-01-01T12:01:59.900Z")
                .containsEntry("minute", "2027-01-01T12:02:00Z");
        clock.advance(Duration.ofSeconds(60));
        assertThat(traffic.times()).containsEntry("minute", "2027-01-01T12:02:00Z");
        clock.advance(Duration.ofMillis(100));
        assertThat(traffic.times()).containsEntry("minute", "2027-01-01T12:03:00Z");
    }

    @Test
    void minutes_areThoseOfTheClock_alsoAfterTheProcessStoodStill() {
        FakeTicker clock = new FakeTicker(Instant.parse("2027-01-01T12:00:37Z"));
        Traffic traffic = new Traffic(clock, clock);
        traffic.count("p", "alice", Outcome.REFUSED, NOWHERE);

        clock.setWallClock(Duration.ofMinutes(3));
        clock.advance(Duration.ofSeconds(23));
        assertThat(traffic.times()).containsEntry("minute", "2027-01-01T12:04:00Z");
        assertThat(traffic.history("p").get("refused")).endsWith(0, 1, 0, 0, 0, 0);
        assertThat(traffic.mostRefused("p")).hasSize(1);

        clock.setWallClock(Duration.ofDays(1));
        clock.advance(Duration.ofSeconds(60));
        assertThat(traffic.history("p").get("refused")).containsOnly(0);
        assertThat(traffic.mostRefused("p")).isEmpty();
    }

    @Test
    void mostRefused_isOfTheCurrentAndThePreviousHour() {
        for (int i = 0; i < 30; i++) {
            refuse("alice");
            refuse("new" + i);
        }
        ticker.advance(Duration.ofMinutes(59));
        refuse("alice");
        ticker.advance(Duration.ofMinutes(2));
        refuse("alice");

        assertThat(traffic.mostRefused("p").get(0)).isEqualTo(new FrequentKeys.Frequent("alice", 32, 0));
        ticker.advance(Duration.ofHours(1));
        assertThat(traffic.mostRefused("p")).containsExactly(new FrequentKeys.Frequent("alice", 1, 0));
        ticker.advance(Duration.ofHours(1));
        assertThat(traffic.mostRefused("p")).isEmpty();
    }

    @Test
    void mostRefused_hasEveryKeyWithMoreThanFivePercent_ofAFlood() {
        for (int i = 0; i < 100_000; i++) {
            refuse(i % 15 == 0 ? "often" : "new" + i);
        }

        assertThat(traffic.mostRefused("p"))
                .hasSizeLessThanOrEqualTo(40)
                .extracting(FrequentKeys.Frequent::key)
                .contains("often");
    }

    @Test
    void mostRefused_ofTwoHours_isWithinItsBounds_evenIfAKeyWasDroppedInOne() {
        for (int i = 0; i < 1_000; i++) {
            refuse("dropped");
        }
        for (int i = 0; i < 200_000; i++) {
            refuse("new" + i);
        }
        ticker.advance(Duration.ofHours(1));
        for (int i = 0; i < 10; i++) {
            refuse("dropped");
        }

        FrequentKeys.Frequent dropped = traffic.mostRefused("p").stream()
                .filter(one -> one.key().equals("dropped"))
                .findFirst()
                .orElseThrow();

        assertThat(dropped.count()).isEqualTo(10);
        assertThat(dropped.count() + dropped.lost()).isGreaterThanOrEqualTo(1_010);
    }

    private static RequestContext at(String path) {
        return new RequestContext(
                new RecordedRequest("GET", path),
                RecordedRequest.sources(
                        Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse(path)), false));
    }

    @Test
    void endpoints_areThoseOfRefusals_alsoWithoutAKey_inTwoHours() {
        traffic.count("p", "alice", Outcome.REFUSED, at("/orders"));
        traffic.count("p", null, Outcome.REFUSED, at("/orders"));
        traffic.count("p", "bob", Outcome.DELAYED, at("/users"));
        traffic.count("s", "bob", Outcome.SHADOW_REFUSED, at("/users"));

        assertThat(traffic.mostRefusedEndpoints("p"))
                .containsExactly(
                        new FrequentKeys.Frequent("GET /orders", 2, 0), new FrequentKeys.Frequent("GET /users", 1, 0));
        assertThat(traffic.mostRefusedEndpoints("s")).containsExactly(new FrequentKeys.Frequent("GET /users", 1, 0));
        assertThat(traffic.mostRefused("p")).hasSize(2);
        ticker.advance(Duration.ofMinutes(61));
        assertThat(traffic.mostRefusedEndpoints("p")).hasSize(2);
        ticker.advance(Duration.ofMinutes(60));
        assertThat(traffic.mostRefusedEndpoints("p")).isEmpty();
    }

    @Test
    void endpointThatCannotBeLookedUp_isNotCounted_andTheRefusalIs() {
        RequestContext gone = new RequestContext(
                new RecordedRequest("GET", "/orders"),
                new RequestContext.Sources(
                        new ClientAddress(List.of(), ForwardedHeader.ANY),
                        new EndpointResolver() {
                            @Override
                            public Endpoint resolve(WebRequest request) {
                                throw new IllegalStateException("the request is complete");
                            }

                            @Override
                            public boolean mayLeadToAnnotated(WebRequest request) {
                                return false;
                            }
                        },
                        () -> new KeyEncoder(false, 32, 64)));

        traffic.count("p", "alice", Outcome.REFUSED, gone);

        assertThat(traffic.mostRefusedEndpoints("p")).isEmpty();
        assertThat(traffic.mostRefused("p")).hasSize(1);
    }

    @Test
    void close_endsTheAlarm() {
        traffic.close();
        count(1, Outcome.REFUSED);
        ticker.advance(Duration.ofMinutes(1));

        assertThat(refusedByMinute()[59]).isEqualTo(1);
    }
}

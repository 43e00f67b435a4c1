package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.net.URI;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import reactor.core.publisher.Mono;

/** What a server refuses whose clients call as fast as they can, for two minutes of fake time. */
@Tag("slow")
class ThousandClientsTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("100/second")));
    private static final Duration RUN = Duration.ofMinutes(2);

    private final FakeTicker ticker = new FakeTicker();

    private void call(SimulatedServer server, ExchangeFilterFunction filter, String user) {
        ClientRequest request = ClientRequest.create(HttpMethod.GET, URI.create("https://api.example.com/"))
                .header(HttpHeaders.AUTHORIZATION, user)
                .build();
        Mono<Void> once = filter.filter(request, server)
                .then()
                // a call that was not sent is tried again
                .onErrorResume(
                        CallNotSentException.class,
                        failure -> Mono.create(sink -> ticker.schedule(sink::success, 1_000_000_000L)));
        once.repeat().subscribe();
    }

    private void run() {
        for (long second = 0; second < RUN.toSeconds(); second++) {
            ticker.advance(Duration.ofSeconds(1));
        }
    }

    private ClientLimits.Builder limits() {
        return ClientLimits.builder()
                .ticker(ticker)
                .store(InMemoryStore.builder().ticker(ticker).maxKeys(16).build())
                .maxWait(Duration.ofMinutes(2));
    }

    static Stream<Arguments> servers() {
        return Stream.of(
                Arguments.of(Policy.of("bucket", TokenBucket.of(Rate.parse("1/second"), 5)), 1),
                Arguments.of(Policy.of("bucket", TokenBucket.of(Rate.parse("1/second"), 5)), 4),
                Arguments.of(Policy.of("slow", TokenBucket.of(Rate.parse("10/minute"))), 4),
                Arguments.of(Policy.of("window", FixedWindow.of(Rate.parse("50/minute"))), 4));
    }

    @ParameterizedTest
    @MethodSource("servers")
    void thousandClients_withTheirOwnBudgets_areHardlyRefused(Policy policy, int callers) {
        SimulatedServer server = new SimulatedServer(ticker, policy);
        for (int client = 0; client < 1_000; client++) {
            ExchangeFilterFunction filter = new RateLimitExchangeFilter(limits().build());
            for (int caller = 0; caller < callers; caller++) {
                call(server, filter, "client " + client);
            }
        }

        run();

        assertThat(server.refusals()).isLessThan(0.01);
        assertThat(server.admitted()).isGreaterThan(1_000);
    }

    /** Nothing is known of the server before it has answered, so the first calls go out together. */
    @Test
    void thousandCallers_ofOneBudget_areRefusedAtTheFirstMomentAlone() {
        SimulatedServer server = new SimulatedServer(ticker, ONE);
        ExchangeFilterFunction filter = new RateLimitExchangeFilter(limits().build());

        callThousandTimes(server, filter);

        assertThat(server.refused()).isEqualTo(900);
        assertThat(server.admitted()).isGreaterThan(9_000);
    }

    @Test
    void thousandCallers_ofOneBudget_withItsPolicy_areNotRefused() {
        SimulatedServer server = new SimulatedServer(ticker, ONE);
        ExchangeFilterFunction filter =
                new RateLimitExchangeFilter(limits().policy(Policy.of("api", TokenBucket.of(Rate.parse("100/second"))))
                        .build());

        callThousandTimes(server, filter);

        assertThat(server.refusals()).isLessThan(0.01);
        assertThat(server.admitted()).isGreaterThan(9_000);
    }

    private void callThousandTimes(SimulatedServer server, ExchangeFilterFunction filter) {
        for (int caller = 0; caller < 1_000; caller++) {
            call(server, filter, "one");
        }
        run();
    }

    @Test
    void thousandClients_without_areMostlyRefused() {
        SimulatedServer server = new SimulatedServer(ticker, Policy.of("b", TokenBucket.of(Rate.parse("1/second"), 5)));
        for (int client = 0; client < 1_000; client++) {
            call(server, (request, next) -> next.exchange(request), "client " + client);
        }

        ticker.advance(Duration.ofSeconds(5));

        assertThat(server.refusals()).isGreaterThan(0.9);
    }
}

package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.retry.RetryException;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.support.WebClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

class RateLimitInterceptorTest {

    private static final Policy RATE = Policy.of("rate", TokenBucket.of(Rate.parse("1/minute")));
    private static final Policy HELD = Policy.of("held", Concurrency.of(3));

    interface Greetings {
        @GetExchange("/greetings/{name}")
        String greet(@PathVariable("name") String name);
    }

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
    private final LoopbackServer server = new LoopbackServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private ClientLimits.Builder limits() {
        return ClientLimits.builder().ticker(ticker).store(store).maxWait(Duration.ZERO);
    }

    private RestClient client(ClientLimits limits) {
        return RestClient.builder()
                .baseUrl(server.url())
                .requestInterceptor(new RateLimitInterceptor(limits))
                .build();
    }

    private static String get(RestClient client, String template, Object... variables) {
        return String.valueOf(client.get().uri(template, variables).retrieve().body(String.class));
    }

    private long left(Policy policy) {
        return store.peek(List.of(policy.charge(server.url()))).limits().get(0).remaining();
    }

    @Test
    void restClient_withoutPermit_isNotSent() {
        RestClient client = client(limits().policy(RATE).build());
        assertThat(get(client, "/a")).isEqualTo("hello");

        assertThatExceptionOfType(CallNotSentException.class).isThrownBy(() -> get(client, "/b"));
        assertThat(server.requests()).isEqualTo(1);
    }

    @Test
    void restTemplate_withoutPermit_isNotSent() {
        RestTemplate template = new RestTemplate();
        template.getInterceptors()
                .add(new RateLimitInterceptor(limits().policy(RATE).build()));
        assertThat(template.getForObject(server.url(), String.class)).isEqualTo("hello");

        assertThatExceptionOfType(CallNotSentException.class)
                .isThrownBy(() -> template.getForObject(server.url(), String.class));
    }

    @Test
    void uriTemplate_hasItsOwnBudget() {
        RestClient client =
                client(limits().policy(RATE, RequestKey.uriTemplate()).build());
        get(client, "/orders/{id}", 1);
        get(client, "/customers/{id}", 1);

        assertThatExceptionOfType(CallNotSentException.class).isThrownBy(() -> get(client, "/orders/{id}", 2));
    }

    @Test
    void credential_hasItsOwnBudget() {
        ClientLimits limits = limits().policy(RATE, RequestKey.credential()).build();
        RestClient alice =
                client(limits).mutate().defaultHeader("Authorization", "alice").build();
        RestClient bob =
                client(limits).mutate().defaultHeader("Authorization", "bob").build();
        get(alice, "/");
        get(bob, "/");

        assertThatExceptionOfType(CallNotSentException.class).isThrownBy(() -> get(alice, "/"));
    }

    @Test
    void key_thatIsNull_limitsNothing() {
        RestClient client = client(limits().policy(RATE, request -> null).build());

        get(client, "/");

        assertThat(get(client, "/")).isEqualTo("hello");
    }

    @Test
    void httpInterface_onRestClientAndWebClient_isLimited() {
        ClientLimits limits = limits().policy(RATE, RequestKey.uriTemplate()).build();
        WebClient web = WebClient.builder()
                .baseUrl(server.url())
                .filter(new RateLimitExchangeFilter(
                        limits().policy(Policy.of("web", TokenBucket.of(Rate.parse("1/minute"))))
                                .build()))
                .build();
        List<HttpExchangeAdapter> adapters =
                List.of(RestClientAdapter.create(client(limits)), WebClientAdapter.create(web));

        for (HttpExchangeAdapter adapter : adapters) {
            Greetings greetings =
                    HttpServiceProxyFactory.builderFor(adapter).build().createClient(Greetings.class);
            assertThat(greetings.greet("Ada")).isEqualTo("hello");

            assertThatExceptionOfType(CallNotSentException.class).isThrownBy(() -> greetings.greet("Bob"));
        }
    }

    @Test
    void waitingThread_getsItsPermitInTime() throws Exception {
        RestClient client =
                client(limits().policy(RATE).maxWait(Duration.ofMinutes(2)).build());
        get(client, "/");
        int alarms = ticker.alarms();
        CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> get(client, "/"));
        while (ticker.alarms() == alarms) {
            Thread.onSpinWait();
        }

        ticker.advance(Duration.ofMinutes(1));

        assertThat(waiting.get()).isEqualTo("hello");
    }

    @Test
    void waitingThread_thatIsInterrupted_fails() {
        RestClient client =
                client(limits().policy(RATE).maxWait(Duration.ofMinutes(2)).build());
        get(client, "/");
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(ResourceAccessException.class)
                .isThrownBy(() -> get(client, "/"))
                .withCauseInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(server.requests()).isEqualTo(1);
    }

    @Test
    void retryAfter_holdsBackTheNextCall() {
        server.answer(429, "Retry-After", "30");
        RestClient client = client(limits().build());
        assertThatExceptionOfType(HttpClientErrorException.TooManyRequests.class)
                .isThrownBy(() -> get(client, "/"));
        server.answer(200, "X-Nothing", "");

        assertThatExceptionOfType(CallNotSentException.class)
                .isThrownBy(() -> get(client, "/"))
                .satisfies(e -> assertThat(e.retryAfter()).isEqualTo(Duration.ofSeconds(30)));
        ticker.advance(Duration.ofSeconds(30));

        assertThat(get(client, "/")).isEqualTo("hello");
    }

    /** The outer call is the one that the server still admits, and is sent only when the inner one is answered. */
    @Test
    void call_withinACallOfItsThread_isNotHeldByItsBound() {
        server.answer(200, "RateLimit", "\"a\";r=1;t=60");
        ClientLimits limits = limits().build();
        RestClient tokens = client(limits);
        RestClient client = tokens.mutate()
                .requestInterceptor((request, body, execution) -> {
                    request.getHeaders().setBearerAuth(get(tokens, "/token"));
                    return execution.execute(request, body);
                })
                .build();
        get(tokens, "/");

        assertThat(get(client, "/")).isEqualTo("hello");
        assertThat(get(client, "/")).isEqualTo("hello");

        assertThat(server.requests()).isEqualTo(5);
        assertThat(limits.around()).isEmpty();
        assertThat(limits.inFlight().enter(server.url())).isTrue();
        assertThat(limits.inFlight().enter(server.url())).isFalse();
    }

    @Test
    void webClient_withinACallOfItsThread_isNotHeldByItsBound() {
        server.answer(200, "RateLimit", "\"a\";r=1;t=60");
        ClientLimits limits = limits().build();
        WebClient tokens = WebClient.builder()
                .baseUrl(server.url())
                .filter(new RateLimitExchangeFilter(limits))
                .build();
        RestClient client = client(limits)
                .mutate()
                .requestInterceptor((request, body, execution) -> {
                    String token = tokens.get()
                            .uri("/token")
                            .retrieve()
                            .bodyToMono(String.class)
                            .block();
                    request.getHeaders().setBearerAuth(String.valueOf(token));
                    return execution.execute(request, body);
                })
                .build();

        assertThat(get(client, "/")).isEqualTo("hello");
        assertThat(get(client, "/")).isEqualTo("hello");

        assertThat(server.requests()).isEqualTo(4);
    }

    @Test
    void concurrency_underLoad_isNeverExceeded() throws Exception {
        ClientLimits limits = ClientLimits.builder()
                .policy(HELD)
                .maxWait(Duration.ofMinutes(1))
                .build();
        RestClient client = client(limits);
        WebClient web = WebClient.builder()
                .baseUrl(server.url())
                .filter(new RateLimitExchangeFilter(limits))
                .build();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(CompletableFuture.runAsync(() -> get(client, "/"), threads));
            calls.add(web.get().uri("/").retrieve().bodyToMono(String.class).toFuture());
        }
        for (CompletableFuture<?> call : calls) {
            call.get();
        }
        threads.shutdown();

        assertThat(server.requests()).isEqualTo(12);
        assertThat(server.mostAtOnce()).isLessThanOrEqualTo(3);
    }

    @Test
    void concurrency_isHeldUntilTheResponseIsClosed() throws IOException {
        RestClient client = client(limits().policy(HELD).build());

        client.get().uri("/").exchange((request, response) -> {
            assertThat(left(HELD)).isEqualTo(2);
            return "";
        });
        assertThat(left(HELD)).isEqualTo(3);
        InputStream body = client.get().uri("/").exchange((request, response) -> response.getBody(), false);
        assertThat(body.read()).isEqualTo('h');
        assertThat(left(HELD)).isEqualTo(2);
        body.close();

        assertThat(left(HELD)).isEqualTo(3);
    }

    @Test
    void concurrency_ofAServerThatIsNotThere_comesBack() {
        RestClient client = client(limits().policy(HELD).build());
        server.close();

        assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(() -> get(client, "/"));
        assertThat(left(HELD)).isEqualTo(3);
    }

    /** Nobody tells which host has answered, as docs/client.md says. */
    @Test
    void redirect_thatTheClientFollows_isACallToTheHostThatWasAsked() {
        try (LoopbackServer other = new LoopbackServer()) {
            server.answer(302, "Location", other.url());
            other.answer(429, "Retry-After", "60");
            RestClient client = client(limits().build())
                    .mutate()
                    .requestFactory(new JdkClientHttpRequestFactory(HttpClient.newBuilder()
                            .followRedirects(HttpClient.Redirect.NORMAL)
                            .build()))
                    .build();
            assertThatExceptionOfType(HttpClientErrorException.TooManyRequests.class)
                    .isThrownBy(() -> get(client, "/"));
            other.answer(200, "X-Nothing", "");

            assertThat(get(client, other.url())).isEqualTo("hello");
            assertThatExceptionOfType(CallNotSentException.class).isThrownBy(() -> get(client, "/"));
        }
    }

    /** The retry's own delay may be nothing: its calls wait here, as the server has asked. */
    @Test
    void retryTemplate_aroundTheClient_callsAgainWhenTheServerAllows() throws RetryException {
        server.answer(any ->
                server.requests() == 1 ? new LoopbackServer.Answer(429, "Retry-After", "1") : LoopbackServer.Answer.OK);
        RestClient client = client(ClientLimits.builder()
                .jitter(Duration.ZERO)
                .maxWait(Duration.ofSeconds(5))
                .build());
        RetryTemplate retry = new RetryTemplate(RetryPolicy.builder()
                .includes(HttpClientErrorException.TooManyRequests.class)
                .maxRetries(1)
                .delay(Duration.ZERO)
                .build());
        long start = System.nanoTime();

        assertThat(retry.execute(() -> get(client, "/"))).isEqualTo("hello");
        assertThat(System.nanoTime() - start).isGreaterThan(900_000_000L);
        assertThat(server.requests()).isEqualTo(2);
    }
}

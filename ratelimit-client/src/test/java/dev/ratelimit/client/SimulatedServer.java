package dev.ratelimit.client;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.field.RateLimitDraft;
import dev.ratelimit.spring.rules.field.WholeSeconds;
import dev.ratelimit.spring.rules.refusal.RetryJitter;
import dev.ratelimit.test.FakeTicker;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/** Limits each value of {@code Authorization} as the starter does, and answers after 20 ms of fake time. */
final class SimulatedServer implements ExchangeFunction {

    private static final long LATENCY_NANOS = 10_000_000;

    private final FakeTicker ticker;
    private final RateLimitStore store;
    private final Policy policy;
    private int admitted;
    private int refused;

    SimulatedServer(FakeTicker ticker, Policy policy) {
        this.ticker = ticker;
        this.store = InMemoryStore.builder().ticker(ticker).build();
        this.policy = policy;
    }

    @Override
    public Mono<ClientResponse> exchange(ClientRequest request) {
        return later().then(Mono.fromCallable(() -> answer(request))).flatMap(answer -> later().thenReturn(answer));
    }

    private Mono<Void> later() {
        return Mono.create(sink -> ticker.schedule(sink::success, LATENCY_NANOS));
    }

    private ClientResponse answer(ClientRequest request) {
        String user = String.valueOf(request.headers().getFirst(HttpHeaders.AUTHORIZATION));
        Decision decision = store.decide(List.of(policy.charge(user)));
        LimitStatus status = decision.limits().get(0);
        String name = RateLimitDraft.name(status.policy(), status.limit());
        RateLimitDraft draft = RateLimitDraft.NEWEST;
        HttpStatus code = decision.admitted() ? HttpStatus.OK : HttpStatus.TOO_MANY_REQUESTS;
        ClientResponse.Builder response = ClientResponse.create(code)
                .header(draft.policies(), draft.policyItem(name, status.limit()))
                .header(draft.limits(), draft.limitItem(name, status));
        if (decision.admitted()) {
            admitted++;
        } else {
            refused++;
            long wait = RetryJitter.DEFAULT.addTo(decision.retryAfterNanos());
            response.header(HttpHeaders.RETRY_AFTER, Long.toString(WholeSeconds.retryAfter(wait)));
        }
        return response.build();
    }

    int admitted() {
        return admitted;
    }

    int refused() {
        return refused;
    }

    double refusals() {
        return (double) refused / (admitted + refused);
    }
}

package dev.ratelimit.client;

import dev.ratelimit.Scheduler.Alarm;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Limits the calls of a {@code WebClient}, and of HTTP interface clients on top of it. Blocks no thread. A subscriber
 * that cancels while it waits leaves nothing charged. Put it behind filters that set what keys read, such as
 * {@code Authorization}.
 */
public final class RateLimitExchangeFilter implements ExchangeFilterFunction {

    private final ClientLimits limits;
    private final Scheduler storeScheduler;

    /**
     * Creates a filter.
     *
     * @param limits may be shared with other clients
     */
    public RateLimitExchangeFilter(ClientLimits limits) {
        this.limits = limits;
        this.storeScheduler = Schedulers.fromExecutor(limits.executor());
    }

    /** Sends the request when it is admitted, or fails with a {@link CallNotSentException}. */
    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.deferContextual(context -> {
            Set<String> around = context.<Set<String>>getOrEmpty(limits).orElseGet(limits::around);
            Call call = limits.call(
                    new OutgoingRequest(request.method(), request.url(), request.headers(), request.attributes()),
                    around);
            return admitted(call)
                    .flatMap(ready -> {
                        call.send();
                        return next.exchange(request).contextWrite(inner -> inner.put(limits, call.within()));
                    })
                    .flatMap(response -> answered(call, response))
                    .doOnError(failure -> call.end())
                    // another filter may swallow an error
                    .switchIfEmpty(Mono.<ClientResponse>fromRunnable(call::end))
                    .doOnCancel(call::end);
        });
    }

    private Mono<Boolean> admitted(Call call) {
        return Mono.fromCallable(call::attempt)
                .subscribeOn(storeScheduler)
                .flatMap(wait -> wait == 0 ? Mono.just(true) : sleep(wait))
                .repeatWhenEmpty(Integer.MAX_VALUE, again -> again);
    }

    /** Empty, after this time. */
    private Mono<Boolean> sleep(long nanos) {
        return Mono.create(sink -> {
            Alarm alarm = limits.scheduler().schedule(() -> goOn(sink::success), nanos);
            sink.onCancel(alarm::cancel);
        });
    }

    /** What follows, such as another filter, may block, and must not hold up all others that wait. */
    private void goOn(Runnable next) {
        try {
            limits.scheduler().blockingExecutor().execute(next);
        } catch (RejectedExecutionException tooMany) {
            limits.scheduler().executor().execute(next);
        }
    }

    private Mono<ClientResponse> answered(Call call, ClientResponse response) {
        return Mono.fromCallable(() -> call.answered(
                        response.statusCode().value(), response.headers().asHttpHeaders()))
                .subscribeOn(storeScheduler)
                .map(held -> held
                        ? response.mutate()
                                .body(body -> body.doFinally(signal -> call.end()))
                                .build()
                        : response)
                // nobody else will read it
                .onErrorResume(
                        failure -> response.releaseBody().onErrorComplete().then(Mono.error(failure)));
    }
}

package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A response that remembers which statuses were replaced by ones that headers of the request can cause, and what is to be done
 * before it is committed, which may set another status.
 */
final class WatchedResponse extends ServerHttpResponseDecorator {

    private final List<Integer> replaced = new CopyOnWriteArrayList<>();

    private final Runnable beforeWriting;

    /**
     * Watches a response.
     *
     * @param beforeWriting called before the response is written, perhaps several times
     */
    WatchedResponse(ServerHttpResponse delegate, Runnable beforeWriting) {
        super(delegate);
        this.beforeWriting = beforeWriting;
    }

    /** In the order in which they were added, since those of the response itself are done before. */
    private final List<Supplier<? extends Mono<Void>>> beforeCommit = new CopyOnWriteArrayList<>();

    @Override
    public void beforeCommit(Supplier<? extends Mono<Void>> action) {
        beforeCommit.add(action);
    }

    /** Does what is to be done before the commit: afterwards the status is final. */
    Mono<Void> finish() {
        return Flux.fromIterable(beforeCommit).concatMap(Supplier::get).then();
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
        beforeWriting.run();
        return super.writeWith(body);
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
        beforeWriting.run();
        return super.writeAndFlushWith(body);
    }

    @Override
    public Mono<Void> setComplete() {
        beforeWriting.run();
        return super.setComplete();
    }

    /** The statuses that were replaced. */
    List<Integer> replaced() {
        return replaced;
    }

    @Override
    public boolean setStatusCode(@Nullable HttpStatusCode status) {
        watch(status == null ? null : status.value());
        return super.setStatusCode(status);
    }

    @Override
    public boolean setRawStatusCode(@Nullable Integer value) {
        watch(value);
        return super.setRawStatusCode(value);
    }

    private void watch(@Nullable Integer next) {
        HttpStatusCode now = getStatusCode();
        if (next != null && now != null && ChargedRequest.mayStandForAnother(next) && now.value() != 200) {
            replaced.add(now.value());
        }
    }
}

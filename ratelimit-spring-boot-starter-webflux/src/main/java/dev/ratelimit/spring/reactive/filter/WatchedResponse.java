package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;

/** A response that remembers which statuses were replaced by ones that headers of the request can cause. */
final class WatchedResponse extends ServerHttpResponseDecorator {

    private final List<Integer> replaced = new CopyOnWriteArrayList<>();

    WatchedResponse(ServerHttpResponse delegate) {
        super(delegate);
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

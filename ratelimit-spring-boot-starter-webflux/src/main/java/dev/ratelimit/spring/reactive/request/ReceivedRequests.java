package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

/** Keeps requests as the server created them: a transformer replaces their address by what anybody may write. */
public final class ReceivedRequests implements BeanPostProcessor {

    private static final String ATTRIBUTE = ReceivedRequests.class.getName();

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        return bean instanceof ForwardedHeaderTransformer transformer && !(bean instanceof Keeping)
                ? new Keeping(transformer)
                : bean;
    }

    /** The request before it was transformed; {@code null} if it was not. */
    static @Nullable ServerHttpRequest of(ServerWebExchange exchange) {
        return exchange.getAttribute(ATTRIBUTE);
    }

    private static final class Keeping extends ForwardedHeaderTransformer {

        private final ForwardedHeaderTransformer transformer;

        Keeping(ForwardedHeaderTransformer transformer) {
            this.transformer = transformer;
            setRemoveOnly(transformer.isRemoveOnly());
        }

        @Override
        public ServerHttpRequest apply(ServerHttpRequest request) {
            ServerHttpRequest transformed = transformer.apply(request);
            if (transformed != request) {
                transformed.getAttributes().put(ATTRIBUTE, request);
            }
            return transformed;
        }
    }
}

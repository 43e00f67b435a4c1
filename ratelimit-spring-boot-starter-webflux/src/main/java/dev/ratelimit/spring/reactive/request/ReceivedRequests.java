package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;
import reactor.core.publisher.Mono;

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

    /** Notes the original, before other filters put something around the request, and keeps forms that somebody reads. */
    public static final class Filter implements WebFilter, Ordered {

        private final FormExchange.Reader forms;

        /**
         * Creates the filter of an application.
         *
         * @param codecs among them the one that reads forms
         */
        public Filter(ServerCodecConfigurer codecs) {
            this.forms = new FormExchange.Reader(codecs);
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            if (exchange.getRequest() instanceof Transformed transformed) {
                exchange.getAttributes().put(ATTRIBUTE, transformed.original);
            }
            return chain.filter(FormExchange.of(exchange, forms));
        }
    }

    private static final class Transformed extends ServerHttpRequestDecorator {

        private final ServerHttpRequest original;

        Transformed(ServerHttpRequest transformed, ServerHttpRequest original) {
            super(transformed);
            this.original = original;
        }
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
            return transformed == request ? request : new Transformed(transformed, request);
        }
    }
}

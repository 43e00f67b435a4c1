package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The exchange that a reactive chain belongs to, in its context. */
public final class CurrentExchange {

    private static final Object KEY = CurrentExchange.class;

    private CurrentExchange() {}

    /** Adds an exchange to a context. */
    public static Context put(Context context, ServerWebExchange exchange) {
        return context.put(KEY, exchange);
    }

    /** The exchange of a context; {@code null} if the chain belongs to none. */
    public static @Nullable ServerWebExchange of(ContextView context) {
        return context.getOrDefault(KEY, null);
    }
}

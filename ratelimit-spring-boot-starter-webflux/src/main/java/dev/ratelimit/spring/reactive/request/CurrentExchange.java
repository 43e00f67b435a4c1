package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The exchange that a reactive chain belongs to, in its context. */
public final class CurrentExchange {

    private static final Object KEY = CurrentExchange.class;
    private static final String HANDLED = CurrentExchange.class.getName();

    private CurrentExchange() {}

    /** Adds an exchange to a context. */
    public static Context put(Context context, ServerWebExchange exchange) {
        return context.put(KEY, exchange);
    }

    /** Makes an exchange current that its handler gets: filters after the limits may have given it another principal. */
    public static void handle(ServerWebExchange exchange) {
        exchange.getAttributes().put(HANDLED, exchange);
    }

    /** The exchange of a context, as its handler gets it or has made of it; {@code null} if the chain belongs to none. */
    public static @Nullable ServerWebExchange of(ContextView context) {
        ServerWebExchange exchange = context.getOrDefault(KEY, null);
        ServerWebExchange handled = exchange == null ? null : exchange.getAttribute(HANDLED);
        return handled == null || isAround(handled, exchange) ? exchange : handled;
    }

    /** Whether filters of a handler's own, such as those of a route, have put the exchange around another one. */
    private static boolean isAround(ServerWebExchange inner, @Nullable ServerWebExchange exchange) {
        ServerWebExchange next = exchange;
        while (next != inner && next instanceof ServerWebExchangeDecorator decorator) {
            next = decorator.getDelegate();
        }
        return next == inner;
    }
}

package dev.ratelimit.spring.reactive.request;

import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;

/**
 * The thread of a connection, if the server is Reactor Netty. Up to version 1.3.6, it hangs a connection when an answer
 * from another thread is followed by one that is given while the next request is still being received. So what the rate
 * limits answer is given in a turn of its own, and what has waited elsewhere goes on here. On other servers it goes on on a
 * thread that may block, as theirs may, and not on the one that ends all waits.
 */
public final class EventLoop {

    private static final boolean NETTY =
            ClassUtils.isPresent("reactor.netty.http.server.HttpServerRequest", EventLoop.class.getClassLoader());

    private EventLoop() {}

    /** Completes where what has waited elsewhere goes on; without an exchange, as off Netty. */
    public static Mono<Void> afterWait(@Nullable ServerWebExchange exchange) {
        if (exchange == null) {
            return onPool();
        }
        Object server = nativeOf(exchange.getRequest());
        if (NETTY && Netty.isServer(server)) {
            return Netty.loopOf(exchange.getRequest()) == null ? onPool() : nextTurn(exchange);
        }
        return server == exchange.getRequest() ? Mono.empty() : onPool();
    }

    private static Mono<Void> onPool() {
        return Mono.<Void>empty().publishOn(Schedulers.boundedElastic());
    }

    /** The request of the server; the request itself if it is not a server's, as in a test. */
    private static Object nativeOf(ServerHttpRequest request) {
        try {
            return ServerHttpRequestDecorator.getNativeRequest(request);
        } catch (IllegalArgumentException | IllegalStateException none) {
            return request;
        }
    }

    /** Completes in another turn of the thread that the exchange's connection belongs to; at once if there is none. */
    public static Mono<Void> nextTurn(ServerWebExchange exchange) {
        return NETTY ? Netty.nextTurn(exchange.getRequest()) : Mono.empty();
    }

    /** Whether the current thread is the one that the exchange's connection belongs to; {@code true} if there is none. */
    public static boolean isCurrent(ServerWebExchange exchange) {
        return !NETTY || Netty.isCurrent(exchange.getRequest());
    }

    /** Completes on the thread that the exchange's connection belongs to: at once if that is the current one. */
    public static Mono<Void> current(ServerWebExchange exchange) {
        return isCurrent(exchange) ? Mono.empty() : nextTurn(exchange);
    }

    /** Only loaded if Reactor Netty is present. */
    private static final class Netty {

        static boolean isServer(Object request) {
            return request instanceof HttpServerRequest;
        }

        static Mono<Void> nextTurn(ServerHttpRequest request) {
            EventExecutor loop = loopOf(request);
            return loop == null ? Mono.empty() : Mono.create(turn -> loop.execute(turn::success));
        }

        static boolean isCurrent(ServerHttpRequest request) {
            EventExecutor loop = loopOf(request);
            return loop == null || loop.inEventLoop();
        }

        /** A connection that is closed has none: a filter may hand on again what has been answered. */
        static @Nullable EventExecutor loopOf(ServerHttpRequest request) {
            if (!(nativeOf(request) instanceof HttpServerRequest server)) {
                return null;
            }
            @Nullable EventExecutor[] loop = {null};
            server.withConnection(connection -> loop[0] =
                    connection.channel().isRegistered() ? connection.channel().eventLoop() : null);
            return loop[0];
        }
    }
}

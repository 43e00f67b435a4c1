package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.WebResponse;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A response of WebFlux. What is written as its body is kept until it is {@linkplain #send sent}. Not thread-safe. */
public final class ReactiveWebResponse implements WebResponse {

    private final ServerWebExchange exchange;
    private final ServerHttpResponse response;
    private byte @Nullable [] body;

    public ReactiveWebResponse(ServerWebExchange exchange) {
        this.exchange = exchange;
        this.response = exchange.getResponse();
    }

    @Override
    public void setStatus(int status) {
        response.setStatusCode(HttpStatusCode.valueOf(status));
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (value == null) {
            response.getHeaders().remove(name);
        } else {
            response.getHeaders().set(name, value);
        }
    }

    @Override
    public void write(String contentType, String text) {
        write(contentType, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void write(String contentType, byte[] bytes) {
        response.getHeaders().set(HttpHeaders.CONTENT_TYPE, contentType);
        body = bytes;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        if (type.isInstance(exchange)) {
            return type.cast(exchange);
        }
        return type.isInstance(response) ? type.cast(response) : null;
    }

    /** Sends the response with the body that was written, if any. */
    public Mono<Void> send() {
        byte[] bytes = body;
        if (bytes == null) {
            return response.setComplete();
        }
        response.getHeaders().setContentLength(bytes.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(bytes)));
    }
}

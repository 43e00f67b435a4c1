package dev.ratelimit.spring.reactive.request;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.http.codec.FormHttpMessageReader;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * An exchange with a form in its body. The body belongs to who reads it last: once anybody has read it, as a form or as bytes (a
 * filter of Spring Security, a rule, a gateway that keeps it), whoever comes later reads the same form and the same bytes, as often
 * as it likes. Until then, nothing is read or kept. Thread-safe.
 */
final class FormExchange extends ServerWebExchangeDecorator {

    private static final String ATTRIBUTE = FormExchange.class.getName();

    private static final ResolvableType FORM =
            ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class, String.class);

    /** What reads the forms of an application. */
    static final class Reader {

        /** Of a form, in bytes, if the application's reader has none of its own. */
        private static final int LIMIT = 256 * 1024;

        private final HttpMessageReader<MultiValueMap<String, String>> messages;

        /** Of a form, in bytes; negative for none. */
        private final int limit;

        @SuppressWarnings("unchecked") // it says that it reads forms
        Reader(ServerCodecConfigurer codecs) {
            HttpMessageReader<?> reader = codecs.getReaders().stream()
                    .filter(one -> one.canRead(FORM, MediaType.APPLICATION_FORM_URLENCODED))
                    .findFirst()
                    .orElseGet(FormHttpMessageReader::new);
            this.messages = (HttpMessageReader<MultiValueMap<String, String>>) reader;
            this.limit = reader instanceof FormHttpMessageReader known ? known.getMaxInMemorySize() : LIMIT;
        }
    }

    private final ServerHttpRequest request;
    private final int limit;

    /** Of the body, in bytes, as it was announced; negative if it was not. */
    private final long length;

    private final boolean tooLarge;
    private final Mono<byte[]> whole;
    private final Mono<MultiValueMap<String, String>> values;

    /** Once it has been read, whole. */
    private volatile byte @Nullable [] body;

    /** Whether somebody has read the body who did not leave it: whoever reads it now gets what the server makes of that. */
    private volatile boolean gone;

    private FormExchange(ServerWebExchange exchange, Reader reader) {
        super(exchange);
        this.limit = reader.limit;
        this.length = exchange.getRequest().getHeaders().getContentLength();
        this.tooLarge = limit >= 0 && length > limit;
        this.request = new Replayed(exchange);
        this.whole = Mono.defer(() -> {
                    byte[] known = body;
                    return known == null ? joined() : Mono.just(known);
                })
                .cache();
        this.values = whole.flatMap(
                        bytes -> gone ? getDelegate().getFormData() : reader.messages.readMono(FORM, request, Map.of()))
                .defaultIfEmpty(new LinkedMultiValueMap<>())
                .cache();
    }

    private Mono<byte[]> joined() {
        return DataBufferUtils.join(getDelegate().getRequest().getBody(), limit)
                .map(FormExchange::bytes)
                .defaultIfEmpty(new byte[0])
                .doOnNext(bytes -> {
                    // some servers tell that a body is consumed, others have nothing of what was announced
                    if (bytes.length == 0 && length > 0) {
                        gone = true;
                    } else {
                        body = bytes;
                    }
                })
                .onErrorResume(IllegalStateException.class, failure -> {
                    if (failure instanceof DataBufferLimitException) {
                        return Mono.error(failure);
                    }
                    gone = true;
                    return Mono.just(new byte[0]);
                });
    }

    /** The exchange itself, unless its body is said to be a form. */
    static ServerWebExchange of(ServerWebExchange exchange, Reader reader) {
        if (!isSent(exchange)) {
            return exchange;
        }
        FormExchange form = new FormExchange(exchange, reader);
        exchange.getAttributes().put(ATTRIBUTE, form);
        return form;
    }

    /** Whether the body is said to be a form. */
    static boolean isSent(ServerWebExchange exchange) {
        try {
            MediaType type = exchange.getRequest().getHeaders().getContentType();
            return MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(type);
        } catch (RuntimeException unreadable) {
            return false;
        }
    }

    /** The form of an exchange, if it can be known; {@code null} otherwise, such as for one that is said to be too large. */
    static @Nullable FormExchange in(ServerWebExchange exchange) {
        FormExchange form = exchange.getAttribute(ATTRIBUTE);
        return form == null || form.tooLarge ? null : form;
    }

    private static byte[] bytes(DataBuffer joined) {
        byte[] bytes = new byte[joined.readableByteCount()];
        joined.read(bytes);
        DataBufferUtils.release(joined);
        return bytes;
    }

    /** Reads the body, unless it has been read; an error if it is larger than forms may be, or breaks off: then it is lost. */
    Mono<Void> read() {
        return whole.then();
    }

    /** Whether somebody has read the body. */
    boolean isRead() {
        return body != null || gone;
    }

    @Override
    public ServerHttpRequest getRequest() {
        return request;
    }

    /** The form, or an error if it is malformed or gone. */
    @Override
    public Mono<MultiValueMap<String, String>> getFormData() {
        return tooLarge ? getDelegate().getFormData() : values;
    }

    /** The request, whose body can be read again once it has been read. */
    private final class Replayed extends ServerHttpRequestDecorator {

        private final DataBufferFactory buffers;

        Replayed(ServerWebExchange exchange) {
            super(exchange.getRequest());
            this.buffers = exchange.getResponse().bufferFactory();
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return Flux.defer(() -> {
                byte[] bytes = body;
                if (bytes == null) {
                    return tooLarge
                            ? getDelegate().getBody()
                            : kept(getDelegate().getBody());
                }
                return bytes.length == 0 ? Flux.empty() : Flux.just(buffers.wrap(bytes));
            });
        }

        /** Keeps what passes, unless it is larger than forms may be. */
        private Flux<DataBuffer> kept(Flux<DataBuffer> passing) {
            ByteArrayOutputStream copy = new ByteArrayOutputStream();
            AtomicBoolean fits = new AtomicBoolean(true);
            return passing.doOnNext(buffer -> {
                        if (limit >= 0 && copy.size() + buffer.readableByteCount() > limit) {
                            fits.set(false);
                        } else if (fits.get()) {
                            byte[] bytes = new byte[buffer.readableByteCount()];
                            buffer.toByteBuffer(ByteBuffer.wrap(bytes));
                            copy.writeBytes(bytes);
                        }
                    })
                    .doOnComplete(() -> {
                        if (fits.get()) {
                            body = copy.toByteArray();
                        }
                    });
        }
    }
}

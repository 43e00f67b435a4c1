package dev.ratelimit.spring.reactive.request;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
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
 * An exchange with a form in its body. The body belongs to who reads it last: once anybody has asked for the form (a filter of
 * Spring Security, a rule), whoever comes later reads the same form and the same bytes, as often as it likes. Until then, nothing
 * is read or kept. Thread-safe.
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
    private final long contentLength;
    private final boolean tooLarge;
    private final Mono<byte[]> whole;
    private final Mono<MultiValueMap<String, String>> values;

    /** Once it has been read. */
    private volatile byte @Nullable [] body;

    private FormExchange(ServerWebExchange exchange, Reader reader) {
        super(exchange);
        this.contentLength = exchange.getRequest().getHeaders().getContentLength();
        this.tooLarge = reader.limit >= 0 && contentLength > reader.limit;
        this.request = new Replayed(exchange);
        this.whole = DataBufferUtils.join(exchange.getRequest().getBody(), reader.limit)
                .map(FormExchange::bytes)
                // somebody has read it before it came here
                .onErrorResume(IllegalStateException.class, consumed -> Mono.empty())
                .defaultIfEmpty(new byte[0])
                .doOnNext(bytes -> body = bytes)
                .cache();
        this.values = whole.flatMap(
                        bytes -> bytes.length == 0 ? readBefore() : reader.messages.readMono(FORM, request, Map.of()))
                .defaultIfEmpty(new LinkedMultiValueMap<>())
                .cache();
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

    /** Of a body that nobody has read before, there is none. */
    private Mono<MultiValueMap<String, String>> readBefore() {
        return contentLength == 0
                ? Mono.empty()
                : getDelegate().getFormData().onErrorResume(RuntimeException.class, gone -> Mono.empty());
    }

    /** Reads the body, unless it has been read; an error if it is larger than forms may be, or breaks off: then it is lost. */
    Mono<Void> read() {
        return whole.then();
    }

    /** Whether somebody has read the body. */
    boolean isRead() {
        return body != null;
    }

    @Override
    public ServerHttpRequest getRequest() {
        return request;
    }

    /** The form, or an error if it is malformed. */
    @Override
    public Mono<MultiValueMap<String, String>> getFormData() {
        return tooLarge ? getDelegate().getFormData() : values;
    }

    /** The request, whose body can be read again once it has been read as a form. */
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
                    return getDelegate().getBody();
                }
                return bytes.length == 0 ? Flux.empty() : Flux.just(buffers.wrap(bytes));
            });
        }
    }
}

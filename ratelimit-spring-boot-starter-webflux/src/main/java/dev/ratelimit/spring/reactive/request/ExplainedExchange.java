package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.boot.spi.RequestFacts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.AbstractServerHttpResponse;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.adapter.DefaultServerWebExchange;
import org.springframework.web.server.i18n.AcceptHeaderLocaleContextResolver;
import org.springframework.web.server.session.DefaultWebSessionManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A request that nobody has sent, to explain what would become of it. It has what was said of it and nothing else, and
 * nobody gets a response to it.
 */
public final class ExplainedExchange {

    /** What a cookie may be called. */
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    private ExplainedExchange() {}

    /** The request by this user; anonymous for {@code null}. */
    public static ReactiveWebRequest of(RequestFacts facts, @Nullable String user) {
        Request request = new Request(facts);
        return ReactiveWebRequest.of(new DefaultServerWebExchange(
                        request,
                        new Response(),
                        new DefaultWebSessionManager(),
                        ServerCodecConfigurer.create(),
                        new AcceptHeaderLocaleContextResolver()))
                .with(user == null ? FetchedFacts.NONE : factsOf(() -> user));
    }

    private static FetchedFacts factsOf(Principal user) {
        return FetchedFacts.NONE.withPrincipal(Optional.of(user));
    }

    private static HttpHeaders headers(RequestFacts facts) {
        HttpHeaders headers = new HttpHeaders();
        facts.headers().forEach(line -> {
            int colon = line.indexOf(':');
            headers.add(
                    line.substring(0, colon).strip(), line.substring(colon + 1).strip());
        });
        return headers;
    }

    private static final class Request extends AbstractServerHttpRequest {

        private final InetSocketAddress address;

        Request(RequestFacts facts) {
            super(
                    HttpMethod.valueOf(facts.method()),
                    URI.create("http://localhost" + facts.target()),
                    null,
                    ExplainedExchange.headers(facts));
            this.address = addressOf(facts.address());
        }

        /** Looks up no name. */
        private static InetSocketAddress addressOf(String text) {
            try {
                boolean literal = text.matches("[0-9.]+|[0-9a-fA-F:.]+");
                return literal
                        ? new InetSocketAddress(InetAddress.getByName(text), 0)
                        : InetSocketAddress.createUnresolved(text, 0);
            } catch (UnknownHostException e) {
                return InetSocketAddress.createUnresolved(text, 0);
            }
        }

        @Override
        public InetSocketAddress getRemoteAddress() {
            return address;
        }

        @Override
        protected MultiValueMap<String, HttpCookie> initCookies() {
            MultiValueMap<String, HttpCookie> cookies = new LinkedMultiValueMap<>();
            for (String line : getHeaders().getOrEmpty(HttpHeaders.COOKIE)) {
                for (String pair : line.split(";", -1)) {
                    int equals = pair.indexOf('=');
                    String name = equals < 0 ? "" : pair.substring(0, equals).strip();
                    if (TOKEN.matcher(name).matches()) {
                        cookies.add(
                                name,
                                new HttpCookie(name, pair.substring(equals + 1).strip()));
                    }
                }
            }
            return cookies;
        }

        @Override
        protected @Nullable SslInfo initSslInfo() {
            return null;
        }

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // as inherited
        public <T> T getNativeRequest() {
            throw new IllegalStateException("nobody has sent this request");
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return Flux.empty();
        }
    }

    private static final class Response extends AbstractServerHttpResponse {

        Response() {
            super(DefaultDataBufferFactory.sharedInstance);
        }

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // as inherited
        public <T> T getNativeResponse() {
            throw new IllegalStateException("nobody gets this response");
        }

        @Override
        protected Mono<Void> writeWithInternal(Publisher<? extends DataBuffer> body) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> writeAndFlushWithInternal(Publisher<? extends Publisher<? extends DataBuffer>> body) {
            return Mono.empty();
        }

        @Override
        protected void applyStatusCode() {}

        @Override
        protected void applyHeaders() {}

        @Override
        protected void applyCookies() {}
    }
}

package dev.ratelimit.spring.reactive.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class EventLoopTest {

    /** Of a server such as Tomcat. */
    private static final class OfAnotherServer extends AbstractServerHttpRequest {

        OfAnotherServer() {
            super(HttpMethod.GET, URI.create("/"), null, new HttpHeaders());
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as every server does it
        public <T> T getNativeRequest() {
            return (T) "request of the server";
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return Flux.empty();
        }

        @Override
        protected MultiValueMap<String, HttpCookie> initCookies() {
            return new LinkedMultiValueMap<>();
        }

        @Override
        protected @Nullable SslInfo initSslInfo() {
            return null;
        }
    }

    private static @Nullable String threadAfterWait(@Nullable ServerWebExchange exchange) {
        return EventLoop.afterWait(exchange)
                .then(Mono.fromSupplier(() -> Thread.currentThread().getName()))
                .block();
    }

    @Test
    void afterWait_onAnotherServerThanNetty_goesOnWhereItMayBlock() {
        ServerHttpRequest request = new OfAnotherServer();
        ServerWebExchange exchange =
                new ServerWebExchangeDecorator(MockServerWebExchange.from(MockServerHttpRequest.get("/"))) {
                    @Override
                    public ServerHttpRequest getRequest() {
                        return request;
                    }
                };

        assertThat(threadAfterWait(exchange)).startsWith("boundedElastic");
        assertThat(threadAfterWait(null)).startsWith("boundedElastic");
    }

    @Test
    void afterWait_withoutAServer_goesOnWhereItIs() {
        assertThat(threadAfterWait(MockServerWebExchange.from(MockServerHttpRequest.get("/"))))
                .isEqualTo(Thread.currentThread().getName());
    }
}

package dev.ratelimit.spring.reactive.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.core.publisher.Mono;

/** Which requests are those of operators. */
class OperatorFilterTest {

    private final OperatorFilter filter = new OperatorFilter(() -> "/actuator/ratelimits");
    private final AtomicBoolean passed = new AtomicBoolean();

    private MockServerWebExchange send(HttpMethod method, String uri) {
        MockServerWebExchange exchange =
                MockServerWebExchange.from(MockServerHttpRequest.method(method, URI.create("http://localhost" + uri)));
        filter.filter(exchange, same -> {
                    passed.set(true);
                    return Mono.empty();
                })
                .block();
        return exchange;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/actuator/ratelimits",
                "/actuator/ratelimits/",
                "/actuator/ratelimits/orders",
                "/actuator/ratelimits;a=b/orders",
                "/actuator;a=b/ratelimits/orders",
                "/actuator/%72atelimits/orders",
                "/actuator/ratelimits/a/b/c"
            })
    void path_ofTheEndpoint_howeverItIsWritten_isProtected(String path) {
        assertThat(send(HttpMethod.GET, path).getResponse().getHeaders().getFirst("X-Frame-Options"))
                .isEqualTo("DENY");
        assertThat(passed).isTrue();
        passed.set(false);

        assertThat(send(HttpMethod.POST, path + "?limit=1/minute").getResponse().getStatusCode())
                .hasToString("400 BAD_REQUEST");
        assertThat(passed).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"GET, /actuator/ratelimitsx", "POST, /orders?a=b", "POST, /actuator/ratelimits%2Forders?a=b"})
    void path_ofOthers_isLeftAlone(HttpMethod method, String uri) {
        assertThat(send(method, uri).getResponse().getHeaders().isEmpty()).isTrue();
        assertThat(passed).isTrue();
    }
}

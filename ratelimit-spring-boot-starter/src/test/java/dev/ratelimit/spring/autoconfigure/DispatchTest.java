package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Neither subsequent dispatches of a request nor its notation change the charge. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class DispatchTest {

    private final RunningApp app;

    DispatchTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class),
                "ratelimit.policies.all.limit=100000/hour",
                "ratelimit.policies.orders.limit=100000/hour",
                "ratelimit.policies.orders.match.paths=/orders/{id}",
                "ratelimit.policies.reads.limit=100000/hour",
                "ratelimit.policies.reads.match.methods=GET",
                "ratelimit.policies.deletes.limit=100000/hour",
                "ratelimit.policies.deletes.match.methods=DELETE",
                "spring.mvc.hiddenmethod.filter.enabled=true",
                "ratelimit.exempt.management=false",
                "management.endpoints.web.exposure.include=health");
    }

    @ParameterizedTest
    @DisplayName("C10 a request is counted once through every dispatch")
    @CsvSource({
        "/orders/1, 200",
        "/callable, 200",
        "/callable-forward, 200",
        "/callable-boom, 502",
        "/deferred, 200",
        "/deferred-timeout, 503",
        "/sse, 200",
        "/stream, 200",
        "/forward, 200",
        "/boom, 500",
        "/send-error, 418",
        "/nowhere, 404",
        "/actuator/health, 200"
    })
    void request_anyDispatch_isCountedOnce(String path, int status) {
        long before = app.counted("all", "admitted");

        assertThat(app.get(path).status()).isEqualTo(status);

        app.awaitCounted("all", "admitted", before + 1);
    }

    @ParameterizedTest
    @DisplayName("C7 every form of the path that reaches the controller is counted by the policy for that path")
    @ValueSource(
            strings = {
                "/orders/1",
                "//orders/1",
                "/./orders/1",
                "/a/../orders/1",
                "/%2e/orders/1",
                "/orders/1/",
                "/ORDERS/1",
                "/orders/1;jsessionid=1",
                "/;a/orders/1",
                "/orders;a=b/1",
                "/%6frders/%31",
                "/orders%2f1",
                "/orders%5c1",
                "/orders/1%00",
                "/orders/1%0a",
                "/orders/1%09",
                "/orders/1?",
                "/orders/1#",
                "/orders/1%20",
                "/orders/1.json",
                "http://localhost/orders/1",
                "/orders//1",
                "/orders/%2e%2e/orders/1"
            })
    void path_anyForm_isCountedWhenTheControllerRuns(String path) {
        int reached = app.bean(TestApi.class).reached();
        long before = app.counted("orders", "admitted");

        app.get(path);

        int ran = app.bean(TestApi.class).reached() - reached;
        assertThat(app.counted("orders", "admitted") - before).isGreaterThanOrEqualTo(ran);
    }

    @ParameterizedTest
    @DisplayName("C8 however the method is written, the policy of the handler that ran is charged")
    @CsvSource(
            delimiter = '|',
            value = {
                "GET /orders/1 HTTP/1.1 | | reads",
                "HEAD /orders/1 HTTP/1.1 | | reads",
                "get /any HTTP/1.1 | | reads",
                "DELETE /orders/1 HTTP/1.1 | | deletes",
                "delete /any HTTP/1.1 | | deletes",
                "GET /orders/1 HTTP/1.1 | X-HTTP-Method-Override: DELETE | reads",
                "POST /orders/1?_method=DELETE HTTP/1.1 | Content-Length: 0 | deletes"
            })
    void method_anyForm_isChargedToTheHandlerThatRan(String line, String header, String policy) {
        int reached = app.bean(TestApi.class).reached();
        long before = app.counted(policy, "admitted");

        if (header == null) {
            app.send(line);
        } else {
            app.send(line, header);
        }

        assertThat(app.bean(TestApi.class).reached()).isEqualTo(reached + 1);
        app.awaitCounted(policy, "admitted", before + 1);
    }

    @Test
    @DisplayName("C9 a preflight is free, any other OPTIONS request is charged")
    void preflight_isFree_otherOptionsAreNot() {
        long before = app.counted("all", "admitted");

        app.send("OPTIONS /orders/1 HTTP/1.1", "Origin: https://example.org", "Access-Control-Request-Method: GET");
        app.awaitCounted("all", "admitted", before);

        app.send("OPTIONS /orders/1 HTTP/1.1");
        app.send("OPTIONS /orders/1 HTTP/1.1", "Origin: https://example.org");
        app.send("GET /orders/1 HTTP/1.1", "Origin: https://example.org", "Access-Control-Request-Method: GET");
        app.awaitCounted("all", "admitted", before + 3);
    }
}

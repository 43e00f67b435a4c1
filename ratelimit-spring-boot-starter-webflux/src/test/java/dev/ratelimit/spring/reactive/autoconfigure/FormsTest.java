package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** A form that a filter reads before the limits do, as those of Spring Security against forged requests and for logins. */
@Tag("servers")
class FormsTest {

    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    @Configuration(proxyBeanMethods = false)
    static class ReadsFirst {

        @Bean
        @Order(-200)
        WebFilter first() {
            return (exchange, chain) -> exchange.getFormData().then(chain.filter(exchange));
        }
    }

    /** As the filter of a gateway does that keeps the body for another attempt. */
    @Configuration(proxyBeanMethods = false)
    static class ReadsBytesFirst {

        @Bean
        @Order(-200)
        WebFilter first() {
            return (exchange, chain) -> DataBufferUtils.join(
                            exchange.getRequest().getBody())
                    .map(DataBufferUtils::release)
                    .then(chain.filter(exchange));
        }
    }

    /** Before all filters of the limits, so that they cannot keep what it reads. */
    @Configuration(proxyBeanMethods = false)
    static class ReadsBeneath {

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter beneath() {
            return (exchange, chain) -> (exchange.getRequest().getPath().value().equals("/body")
                            ? DataBufferUtils.join(exchange.getRequest().getBody())
                                    .map(DataBufferUtils::release)
                            : exchange.getFormData())
                    .then(chain.filter(exchange));
        }
    }

    @RestController
    static class Forms {

        @PostMapping("/form")
        Mono<String> form(ServerWebExchange exchange) {
            return exchange.getFormData().map(form -> "form " + form);
        }

        private final AtomicInteger ignored = new AtomicInteger();

        @PostMapping("/ignored")
        String ignored() {
            ignored.incrementAndGet();
            return "ignored";
        }

        @PostMapping("/body")
        Mono<String> body(ServerWebExchange exchange) {
            return DataBufferUtils.join(exchange.getRequest().getBody())
                    .map(body -> "body " + body.toString(StandardCharsets.UTF_8));
        }
    }

    private static RawResponse post(RunningApp app, String path, String... headers) {
        return app.client()
                .sendBody(
                        "POST " + path + " HTTP/1.1",
                        "a=1&b=2",
                        Stream.concat(Stream.of(FORM), Stream.of(headers)).toArray(String[]::new));
    }

    /** Without a length, so that nobody knows before the end how large it is. */
    private static RawResponse chunked(RunningApp app, String path, String form) {
        String chunks = Integer.toHexString(form.length()) + "\r\n" + form + "\r\n0";
        return app.client().send("POST " + path + " HTTP/1.1", FORM, "Transfer-Encoding: chunked\r\n\r\n" + chunks);
    }

    @Test
    void form_behindAProxy_isThatOfTheHandler_too() {
        try (RunningApp app = RunningApp.start(
                Server.NETTY,
                List.of(Forms.class),
                "server.forward-headers-strategy=framework",
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.policies.by-form.limit=2/hour",
                "ratelimit.policies.by-form.key=#request.getParameter('a')",
                "ratelimit.policies.by-form.missing-key=reject")) {
            assertThat(post(app, "/form", "X-Forwarded-For: 192.0.2.1").body()).isEqualTo("form {a=[1], b=[2]}");
            assertThat(post(app, "/body", "X-Forwarded-For: 192.0.2.2").body()).isEqualTo("body a=1&b=2");
            assertThat(post(app, "/form", "X-Forwarded-For: 192.0.2.3").status())
                    .isEqualTo(429);
        }
    }

    @Test
    void form_thatIsLost_getsToNoHandler() {
        try (RunningApp app = RunningApp.start(
                Server.NETTY,
                List.of(Forms.class),
                "ratelimit.policies.by-form.limit=2/hour",
                "ratelimit.policies.by-form.key=#request.getParameter('a')")) {
            assertThat(chunked(app, "/ignored", "a=1&b=2").body()).isEqualTo("ignored");
            // more than the reader of forms keeps
            try {
                assertThat(chunked(app, "/ignored", "a=1&b=" + "2".repeat(300_000))
                                .status())
                        .isEqualTo(500);
            } catch (UncheckedIOException reset) {
                // the server may close the connection before it has received all
            }
            assertThat(app.bean(Forms.class).ignored).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void form_thatAFilterHasRead_isThatOfTheLimits_andOfTheHandler(Server server) {
        try (RunningApp app = RunningApp.start(
                server,
                List.of(ReadsFirst.class, Forms.class),
                "ratelimit.policies.by-form.limit=2/hour",
                "ratelimit.policies.by-form.key=#request.getParameter('a')",
                "ratelimit.policies.by-form.missing-key=reject")) {
            assertThat(post(app, "/form").body()).isEqualTo("form {a=[1], b=[2]}");
            assertThat(post(app, "/body").body()).isEqualTo("body a=1&b=2");
            assertThat(post(app, "/form").status()).isEqualTo(429);
        }
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void form_whoseBytesAFilterHasRead_isThatOfTheLimits_andOfTheHandler(Server server) {
        try (RunningApp app = RunningApp.start(
                server,
                List.of(ReadsBytesFirst.class, Forms.class),
                "ratelimit.policies.by-form.limit=2/hour",
                "ratelimit.policies.by-form.key=#request.getParameter('a')",
                "ratelimit.policies.by-form.missing-key=skip")) {
            assertThat(post(app, "/form").body()).isEqualTo("form {a=[1], b=[2]}");
            assertThat(post(app, "/body").body()).isEqualTo("body a=1&b=2");
            assertThat(post(app, "/form").status()).isEqualTo(429);
        }
    }

    /** More than the reader of forms keeps, which nobody knows before the end. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void largeForm_whoseBytesAFilterHasRead_isNotCut(Server server) {
        String form = "a=1&" + "b=2&".repeat(80_000) + "c=3";
        try (RunningApp plain = RunningApp.start(
                        server, List.of(ReadsBytesFirst.class, Forms.class), "ratelimit.enabled=false");
                RunningApp app = RunningApp.start(
                        server,
                        List.of(ReadsBytesFirst.class, Forms.class),
                        "ratelimit.policies.by-address.limit=2/hour")) {
            assertThat(chunked(app, "/ignored", form).body()).isEqualTo("ignored");
            assertThat(chunked(app, "/form", form).status())
                    .isEqualTo(chunked(plain, "/form", form).status());
        }
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void form_thatSomebodyHasConsumedBeneathTheLimits_isWhatItWouldBeWithoutThem(Server server) {
        try (RunningApp plain =
                        RunningApp.start(server, List.of(ReadsBeneath.class, Forms.class), "ratelimit.enabled=false");
                RunningApp app = RunningApp.start(
                        server,
                        List.of(ReadsBeneath.class, Forms.class),
                        "ratelimit.policies.by-form.limit=2/hour",
                        "ratelimit.policies.by-form.key=#request.getParameter('a')",
                        "ratelimit.policies.by-form.missing-key=skip")) {
            assertThat(post(app, "/body").status())
                    .isEqualTo(post(plain, "/body").status());
            // who reads the form there leaves it
            assertThat(post(app, "/form").body()).isEqualTo("form {a=[1], b=[2]}");
            assertThat(post(app, "/form").status()).isEqualTo(200);
            assertThat(post(app, "/form").status()).isEqualTo(429);
        }
    }

    @Test
    void key_thatAClientHides_isItsAddress_alsoWhereCallersWithoutAKeyAreFree() {
        try (RunningApp app = RunningApp.start(
                List.of(Forms.class),
                "ratelimit.policies.by-form.limit=2/hour",
                "ratelimit.policies.by-form.key=#request.getParameter('a')",
                "ratelimit.policies.by-form.missing-key=skip")) {
            for (int i = 0; i < 4; i++) {
                // in the query and in the form
                assertThat(post(app, "/body?a=other" + i).status()).isEqualTo(i < 2 ? 200 : 429);
            }
        }
    }
}

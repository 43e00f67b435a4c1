package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Scripts may read refusals if they may read other responses. */
@Tag("servers")
class CorsTest {

    private static final String ORIGIN = "Origin: https://shop.example";

    @RestController
    static class Api {

        @CrossOrigin("https://shop.example")
        @GetMapping("/crossed")
        String crossed() {
            return "crossed";
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(TestApi.class, Api.class, CrossOrigins.class),
            "ratelimit.policies.each.limit=1/minute",
            "ratelimit.policies.each.key=ip,endpoint");

    @AfterEach
    void stop() {
        app.close();
    }

    private RawResponse refused(String path, String origin) {
        app.get(path, origin);
        RawResponse refused = app.get(path, origin);
        assertThat(refused.status()).isEqualTo(429);
        return refused;
    }

    @Test
    void refusal_whereAHandlerAllowsTheOrigin_isReadable() {
        RawResponse refused = refused("/crossed", ORIGIN);

        assertThat(refused.header("Access-Control-Allow-Origin")).isEqualTo("https://shop.example");
        assertThat(refused.header("Access-Control-Expose-Headers")).contains("RateLimit", "Retry-After");
    }

    @Test
    void refusal_whereTheMappingAllowsTheOrigin_isReadable() {
        assertThat(refused("/orders/1", ORIGIN).header("Access-Control-Allow-Origin"))
                .isEqualTo("https://shop.example");
    }

    @Test
    void refusal_whereABeanAllowsTheOrigin_isReadable() {
        assertThat(refused("/any", ORIGIN).header("Access-Control-Allow-Origin"))
                .isEqualTo("https://shop.example");
    }

    @Test
    void refusal_ofAnotherOrigin_isNotReadable() {
        RawResponse refused = refused("/crossed", "Origin: https://evil.example");

        assertThat(refused.header("Access-Control-Allow-Origin")).isNull();
        assertThat(refused.header("Access-Control-Expose-Headers")).isNull();
    }

    @Test
    void preflights_areFree() {
        String[] preflight = {ORIGIN, "Access-Control-Request-Method: GET"};

        assertThat(app.send("OPTIONS /crossed HTTP/1.1", preflight).status()).isEqualTo(200);
        assertThat(app.send("OPTIONS /crossed HTTP/1.1", preflight).status()).isEqualTo(200);
        assertThat(app.get("/crossed", ORIGIN).status()).isEqualTo(200);
    }
}

package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.TestApi;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.reactive.server.WebTestClient;

/** A test of one controller has the limits of the application, too. */
@OnBoot.Slice(
        controllers = TestApi.class,
        properties = {"ratelimit.policies.orders.limit=1/minute", "ratelimit.policies.orders.key=ip"})
class SliceTest {

    @SpringBootConfiguration
    @Import(TestApi.class)
    static class App {}

    @Autowired
    private WebTestClient client;

    @Test
    void slice_isLimited() {
        client.get().uri("/any").exchange().expectStatus().isOk();
        client.get().uri("/any").exchange().expectStatus().isEqualTo(429);
    }
}

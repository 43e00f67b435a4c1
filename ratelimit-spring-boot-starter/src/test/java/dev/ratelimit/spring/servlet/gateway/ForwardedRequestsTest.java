package dev.ratelimit.spring.servlet.gateway;

import dev.ratelimit.spring.ForwardedRequests;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Whatever policies read, services get the requests of a gateway byte for byte as without limits. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.servlet.gateway.RoutedApp#isPossible")
class ForwardedRequestsTest {

    private static ForwardedRequests requests;

    @BeforeAll
    static void start() throws IOException {
        requests = new ForwardedRequests("spring.cloud.gateway.server.webmvc");
    }

    @AfterAll
    static void stop() {
        requests.close();
    }

    @Test
    void anyRequest_arrivesWhole() throws Exception {
        requests.areTheSame(300);
    }

    @Test
    @Tag("nightly")
    void manyRequests_arriveWhole() throws Exception {
        requests.areTheSame(10_000);
    }
}

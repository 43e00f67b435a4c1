package dev.ratelimit.sample.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

/** The gateway on a server, with a fake clock. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@WithFakeTicker
@Tag("servers")
class SampleGatewayTest {

    @LocalServerPort
    private int port;

    @Autowired
    private FakeTicker ticker;

    private WebTestClient client;

    @BeforeEach
    void connect() {
        client =
                WebTestClient.bindToServer().baseUrl("http://127.0.0.1:" + port).build();
    }

    private WebTestClient.ResponseSpec get(String path) {
        return client.get().uri(path).exchange();
    }

    @Test
    void routes_haveABudgetEach_andRefuseBeyondIt() {
        assertThat(get("/catalog/7")
                        .expectStatus()
                        .isOk()
                        .expectBody(String.class)
                        .returnResult()
                        .getResponseBody())
                .isEqualTo("from the service catalog\n");
        get("/catalog/8").expectStatus().isOk();
        WebTestClient.ResponseSpec refused = get("/catalog/9");
        refused.expectStatus()
                .isEqualTo(429)
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.violated-policies[0]")
                .isEqualTo("per-route");
        get("/orders").expectStatus().isOk();

        ticker.advance(Duration.ofSeconds(30));
        get("/catalog/9").expectStatus().isOk();
    }

    @Test
    void actuator_explainsWhatRoutesAreCharged() {
        get("/actuator/ratelimits/explain?path=/orders/1")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.route")
                .isEqualTo("orders")
                .jsonPath("$.policies[*].policy")
                .value(policies ->
                        assertThat(policies.toString()).contains("per-client", "per-route", "orders-per-day"));
    }
}

package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** With springdoc, the description of the API shows the limits of each operation. */
@SpringBootTest(properties = {"ratelimit.exempt.paths=/api/stock/**", "ratelimit.policies.reports.response.status=420"})
@AutoConfigureMockMvc
@Tag("servers")
class OpenApiTest {

    @Autowired
    private MockMvcTester mvc;

    private JsonNode responses(String method, String path) {
        byte[] description =
                mvc.get().uri("/v3/api-docs").exchange().getResponse().getContentAsByteArray();
        return JsonMapper.shared()
                .readTree(description)
                .path("paths")
                .path(path)
                .path(method)
                .path("responses");
    }

    @Test
    void operation_showsItsLimits_andTheRefusal() {
        JsonNode responses = responses("get", "/api/reports/{id}");
        JsonNode refusal = responses.path("429");

        assertThat(refusal.path("description").asString())
                .startsWith("Too many requests. Limits: ")
                .contains("per-user 600/minute")
                .doesNotContain("reports 100/minute");
        assertThat(refusal.path("headers").has("Retry-After")).isTrue();
        assertThat(responses.path("420").path("description").asString())
                .startsWith("Too many requests. Limits: reports 100/minute");
        assertThat(responses("post", "/api/login")
                        .path("429")
                        .path("description")
                        .asString())
                .contains("LoginController.login 5/minute");
    }

    @Test
    void operation_exempt_hasNoRefusal() {
        JsonNode responses = responses("get", "/api/stock/{product}");

        assertThat(responses.has("200")).isTrue();
        assertThat(responses.has("429")).isFalse();
    }
}

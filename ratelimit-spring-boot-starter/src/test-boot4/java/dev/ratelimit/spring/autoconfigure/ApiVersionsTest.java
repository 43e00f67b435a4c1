package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Look-ups of endpoints with versions, which Spring Framework 7 has added. */
@ParameterizedClass
@MethodSource("servers")
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class ApiVersionsTest {

    @RestController
    static class Versions {
        @GetMapping(path = "/versions/{id}", version = "1.0")
        String one(@PathVariable String id) {
            return "one" + id;
        }
    }

    private final RunningApp app;

    ApiVersionsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Versions.class),
                "spring.mvc.apiversion.use.header=X-Version",
                "spring.mvc.apiversion.supported=1.0",
                "ratelimit.policies.e.limit=3/hour",
                "ratelimit.policies.e.key=endpoint, header:X-Case");
    }

    @ParameterizedTest
    @CsvSource({"1.0, 200", "9.9, 400", "garbage, 400"})
    void version_thatDoesNotExist_isAnsweredBySpringMvc_andCharged(String version, int status, CapturedOutput output) {
        String[] headers = {"X-Version: " + version, "X-Case: " + version};
        for (int i = 0; i < 3; i++) {
            assertThat(app.get("/versions/1", headers).status()).isEqualTo(status);
        }

        assertThat(app.get("/versions/1", headers).status()).isEqualTo(429);
        assertThat(output).doesNotContain("ERROR");
    }
}

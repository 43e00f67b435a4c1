package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Without a trusted proxy, no header changes the client's address. */
@ParameterizedClass
@MethodSource("servers")
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class NoProxyTest {

    private final RunningApp app;

    NoProxyTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class),
                "ratelimit.policies.ip.limit=100/hour",
                "ratelimit.policies.ip.key=ip",
                "ratelimit.exempt.addresses=203.0.113.0/24");
    }

    @Test
    @DisplayName("C1 a peer that is not trusted is one client, even with a hundred forged headers")
    void forged_isThePeer(CapturedOutput output) {
        List<String> headers = List.of(
                "X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP");
        long admitted = IntStream.range(0, 150)
                .filter(i -> {
                    String name = headers.get(i % headers.size());
                    String value = (name.equals("Forwarded") ? "for=" : "") + "203.0.113." + i;
                    return app.get("/any", name + ": " + value).status() == 200;
                })
                .count();

        assertThat(admitted).isEqualTo(100);
        assertThat(output.toString().split("no proxy is trusted", -1)).hasSize(2); // logged once
    }
}

package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A file that the server sends after the request would outlive the permit of the request. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class SendfileTest {

    private final RunningApp app;

    SendfileTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Staying.class),
                "ratelimit.policies.slots.concurrency=2",
                "ratelimit.policies.slots.key=header:X-Slots",
                "ratelimit.policies.slots.missing-key=skip");
    }

    @Test
    void sendfile_isOfferedOnlyToRequestsThatHoldNothing() {
        boolean tomcat = app.toString().startsWith("Tomcat");

        assertThat(app.get("/sendfile").body()).contains(tomcat ? "true" : "null");
        assertThat(app.get("/sendfile", "X-Slots: sendfile").body()).contains(tomcat ? "false" : "null");
    }
}

package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.Users;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A store that fails to refund or to read does not affect responses. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class FailingRefundTest {

    static final class NoRefunds extends ForwardingStore {

        NoRefunds() {
            super(InMemoryStore.create());
        }

        @Override
        public Decision peek(List<Charge> charges) {
            throw new IllegalStateException("no peeking");
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            throw new IllegalStateException("no refunds");
        }
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    void refund_fails_answersStayAsTheyAre_andItIsLoggedOnce(Server server, CapturedOutput output) {
        try (RunningApp app = RunningApp.start(
                server,
                List.of(RunningApp.WithSecurity.class, Users.class, NoRefunds.class, TestApi.class),
                "ratelimit.policies.failures.limit=100/hour",
                "ratelimit.policies.failures.count=401",
                "ratelimit.policies.user.limit=5/hour",
                "ratelimit.policies.user.key=user")) {
            for (String path : List.of("/any", "/callable", "/sse", "/stream", "/orders/1")) {
                assertThat(app.getAs("alice", path).status()).isEqualTo(200);
            }
            assertThat(app.getAs("alice", "/any").status()).isEqualTo(429); // the first stage refunds

            assertThat(output.toString().split("failed to refund permits", -1)).hasSizeBetween(2, 3); // one per stage
            assertThat(output).doesNotContain("ERROR");
        }
    }
}

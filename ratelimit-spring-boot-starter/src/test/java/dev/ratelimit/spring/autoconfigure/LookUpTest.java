package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Users;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** Look-ups that fail, or that get the request from their thread. */
@ParameterizedClass
@MethodSource("servers")
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class LookUpTest {

    @ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
    static final class Unpaid extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Configuration(proxyBeanMethods = false)
    static class Routes {

        @Bean
        RouterFunction<ServerResponse> routes() {
            return RouterFunctions.route(
                            failing("/gone", new ResponseStatusException(HttpStatus.GONE)), request -> ok())
                    .andRoute(failing("/unpaid", new Unpaid()), request -> ok())
                    .andRoute(request -> currentPath().equals("/by-thread"), request -> ok());
        }

        private static RequestPredicate failing(String path, RuntimeException e) {
            return request -> {
                if (request.path().equals(path)) {
                    throw e;
                }
                return false;
            };
        }

        private static ServerResponse ok() {
            return ServerResponse.ok().build();
        }

        private static String currentPath() {
            ServletRequestAttributes attributes =
                    (ServletRequestAttributes) Objects.requireNonNull(RequestContextHolder.getRequestAttributes());
            return attributes.getRequest().getRequestURI();
        }

        @Bean
        KeyResolver byThread() {
            return request -> currentPath();
        }
    }

    private final RunningApp app;

    LookUpTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(RunningApp.WithSecurity.class, Users.class, Routes.class),
                "ratelimit.policies.e.limit=3/hour",
                "ratelimit.policies.e.key=endpoint, header:X-Case",
                "ratelimit.policies.e.stage=before-security",
                "ratelimit.policies.t.limit=3/hour",
                "ratelimit.policies.t.key=bean:byThread, header:X-Case",
                "ratelimit.policies.t.missing-key=reject",
                "ratelimit.policies.t.stage=before-security");
    }

    @ParameterizedTest
    @CsvSource({"/gone, 410", "/unpaid, 402", "/by-thread, 200"})
    void lookUp_fails_isAnsweredBySpringMvc_andCharged(String path, int status, CapturedOutput output) {
        String[] headers = {"X-Case: " + path};
        for (int i = 0; i < 3; i++) {
            assertThat(app.getAs("alice", path, headers).status()).isEqualTo(status);
        }

        assertThat(app.getAs("alice", path, headers).status()).isEqualTo(429);
        assertThat(output).doesNotContain("ERROR");
    }
}

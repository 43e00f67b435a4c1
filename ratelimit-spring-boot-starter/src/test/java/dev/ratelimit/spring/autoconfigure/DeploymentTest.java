package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Context paths, servlet paths and ports of the application and its actuator. */
@Tag("slow")
class DeploymentTest {

    @RestController
    static class Items {

        private final AtomicInteger reached = new AtomicInteger();

        @GetMapping("/items/{id}")
        String item(@PathVariable String id) {
            reached.incrementAndGet();
            return id;
        }

        @GetMapping("/annotated/{id}")
        @RateLimited(value = "2/hour", key = "ip")
        String annotated(@PathVariable String id) {
            reached.incrementAndGet();
            return id;
        }
    }

    static Stream<Arguments> places() {
        return RunningApp.servers()
                .flatMap(server -> Stream.of(
                        Arguments.of(server, "/ctx", ""),
                        Arguments.of(server, "", "/mvc"),
                        Arguments.of(server, "/ctx", "/mvc")));
    }

    private static RunningApp start(Server server, String contextPath, String servletPath, String... more) {
        String[] place = {
            "server.servlet.context-path=" + contextPath,
            "spring.mvc.servlet.path=" + (servletPath.isEmpty() ? "/" : servletPath),
            // Spring answers some forms with a long 500
            "logging.level.org.apache.catalina=off",
            "logging.level.org.eclipse.jetty=off"
        };
        return RunningApp.start(
                server,
                List.of(Items.class),
                Stream.concat(Stream.of(place), Stream.of(more)).toArray(String[]::new));
    }

    @ParameterizedTest
    @MethodSource("places")
    void contextAndServletPath_areNoPartOfPatternsAndEndpoints(Server server, String contextPath, String servletPath) {
        try (RunningApp app = start(
                server,
                contextPath,
                servletPath,
                "ratelimit.policies.items.limit=9/hour",
                "ratelimit.policies.items.match.paths=/items/{id}",
                "ratelimit.policies.each.limit=3/hour",
                "ratelimit.policies.each.key=endpoint")) {
            String root = contextPath + servletPath;
            for (int i = 0; i < 3; i++) {
                assertThat(app.get(root + "/items/" + i).status()).isEqualTo(200);
            }

            assertThat(app.get(root + "/items/3").status()).isEqualTo(429);
            app.awaitCounted("items", "admitted", 3);
            app.awaitCounted("each", "refused", 1);
            assertThat(app.get(root + "/annotated/1").status()).isEqualTo(200);
            assertThat(app.get(root + "/annotated/2").status()).isEqualTo(200);
            assertThat(app.get(root + "/annotated/3").status()).isEqualTo(429);
            app.awaitCounted("items", "admitted", 3);
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("C7 every form of the context and servlet path that leads to the controller is counted")
    void contextAndServletPath_inAnyForm_areCountedWhenTheControllerRuns(
            Server server, String contextPath, String servletPath) {
        String[] limited = {
            "ratelimit.policies.items.limit=1000/hour", "ratelimit.policies.items.match.paths=/items/{id}"
        };
        try (RunningApp app = start(server, contextPath, servletPath, limited);
                RunningApp unlimited = start(server, contextPath, servletPath, "ratelimit.enabled=false")) {
            for (String form : forms(contextPath, servletPath).toList()) {
                int reached = app.bean(Items.class).reached.get();
                long before = app.counted("items", "admitted");

                int status = app.get(form).status();

                int ran = app.bean(Items.class).reached.get() - reached;
                assertThat(app.counted("items", "admitted") - before).as(form).isGreaterThanOrEqualTo(ran);
                assertThat(status).as(form).isEqualTo(unlimited.get(form).status());
            }
            assertThat(app.bean(Items.class).reached).hasPositiveValue();
        }
    }

    private static Stream<String> forms(String contextPath, String servletPath) {
        return Stream.of(
                        contextPath + servletPath,
                        contextPath + ";a=b" + servletPath,
                        contextPath + servletPath + ";a=b",
                        contextPath + "/." + servletPath,
                        contextPath + "/x/.." + servletPath,
                        contextPath + "/" + servletPath,
                        "/" + contextPath + servletPath,
                        contextPath + servletPath + "/",
                        contextPath.replace("c", "%63") + servletPath.replace("m", "%6d"),
                        contextPath.toUpperCase(Locale.ROOT) + servletPath,
                        contextPath + servletPath.toUpperCase(Locale.ROOT),
                        contextPath + contextPath + servletPath,
                        contextPath + servletPath + servletPath,
                        "http://localhost" + contextPath + servletPath)
                .flatMap(root -> Stream.of(root + "/items/1", root + "/;a/items/1", root + "/%69tems/1"));
    }

    @ParameterizedTest
    @CsvSource({"TOMCAT, false", "TOMCAT, true", "JETTY, false", "JETTY, true"})
    void actuatorOnAPortOfItsOwn_isNotLimited(Server server, boolean security) {
        List<Class<?>> sources = security ? List.of(RunningApp.WithSecurity.class, Items.class) : List.of(Items.class);
        String alice = "Authorization: Basic "
                + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.US_ASCII));
        try (RunningApp app = RunningApp.start(
                server,
                sources,
                "management.server.port=0",
                "management.server.address=127.0.0.1",
                "spring.security.user.name=alice",
                "spring.security.user.password=secret",
                "ratelimit.policies.all.limit=2/hour")) {
            for (int i = 0; i < 5; i++) {
                assertThat(app.managementClient().get("/actuator/health").status())
                        .isEqualTo(200);
            }

            assertThat(app.counted("all", "admitted")).isZero();
            assertThat(app.get("/items/1", alice).status()).isEqualTo(200);
            assertThat(app.get("/items/1", alice).status()).isEqualTo(200);
            assertThat(app.get("/items/1", alice).status()).isEqualTo(429);
            assertThat(app.managementClient().get("/actuator/health").status()).isEqualTo(200);
        }
    }
}

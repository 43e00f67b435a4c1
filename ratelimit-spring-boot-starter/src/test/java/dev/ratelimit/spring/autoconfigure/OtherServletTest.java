package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Service;

/** A servlet besides Spring MVC's is limited by its path relative to the context path, and by no shorter one. */
@ParameterizedClass
@MethodSource("dev.ratelimit.spring.RunningApp#servers")
@Tag("servers")
class OtherServletTest {

    @Configuration(proxyBeanMethods = false)
    static class Console {
        @Bean
        ServletRegistrationBean<HttpServlet> console() {
            HttpServlet servlet = new HttpServlet() {
                @Override
                protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                    response.setStatus(203);
                }
            };
            return new ServletRegistrationBean<>(servlet, "/console/*");
        }

        /** As in a container of JAX-RS resources, which puts what they throw into an exception of servlets. */
        @Bean
        ServletRegistrationBean<HttpServlet> mailServlet(Mails mails) {
            HttpServlet servlet = new HttpServlet() {
                @Override
                protected void doGet(HttpServletRequest request, HttpServletResponse response)
                        throws ServletException, IOException {
                    response.getOutputStream().print("partial");
                    try {
                        mails.send();
                    } catch (RateLimitExceededException e) {
                        if (request.getPathInfo().equals("/wrapped")) {
                            throw new ServletException(e);
                        }
                        throw e;
                    }
                }
            };
            return new ServletRegistrationBean<>(servlet, "/mails/*");
        }
    }

    @Service
    static class Mails {

        @RateLimited(value = "1/hour", key = "ip")
        public void send() {}
    }

    @SuppressWarnings("NullAway.Init") // by start, which NullAway does not know to come first
    private static RunningApp app;

    @SuppressWarnings({"NullAway.Init", "UnusedVariable"}) // asked for by the class's parameter
    @Parameter
    private Server server;

    @BeforeParameterizedClassInvocation
    static void start(Server server) {
        app = RunningApp.start(
                server,
                List.of(Console.class, Mails.class),
                "ratelimit.policies.console.limit=1000/hour",
                "ratelimit.policies.console.match.paths=/console/**",
                "ratelimit.policies.rest.limit=1000/hour",
                "ratelimit.policies.rest.match.except-paths=/health/**");
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        app.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/console/x",
                "/console/health/x",
                "/./console/x",
                "/console;a=b/x",
                "//console/x",
                "/%63onsole/x",
                "/x/../console/x"
            })
    void path_anyForm_isCountedWhenTheServletRuns(String path) {
        long console = app.counted("console", "admitted");
        long rest = app.counted("rest", "admitted");

        int status = app.get(path).status();

        // the server may reject a form, but not the limiter
        assertThat(status).isIn(203, 400);
        long ran = status == 203 ? 1 : 0;
        app.awaitCounted("console", "admitted", console + ran);
        app.awaitCounted("rest", "admitted", rest + ran);
    }

    @Test
    void callThatIsRefused_isAnsweredAsByTheFilter() {
        app.get("/mails/plain");

        RawResponse refused = app.get("/mails/plain");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isNotNull();
        assertThat(refused.body()).startsWith("{").endsWith("}");
        assertThat(app.get("/mails/wrapped").status()).isEqualTo(429);
    }
}

package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
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
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

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
                    if (request.getParameter("writes") != null) {
                        response.getWriter().write("a part of the answer");
                    } else {
                        response.getOutputStream().print("partial");
                    }
                    if (request.getParameter("later") != null
                            && request.getDispatcherType() == DispatcherType.REQUEST) {
                        request.startAsync().dispatch();
                        return;
                    }
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

        /** Hands requests on to the servlet above. */
        @Bean
        ServletRegistrationBean<HttpServlet> handingOn() {
            HttpServlet servlet = new HttpServlet() {
                @Override
                protected void doGet(HttpServletRequest request, HttpServletResponse response)
                        throws ServletException, IOException {
                    RequestDispatcher mails = request.getRequestDispatcher("/mails/plain");
                    if (request.getPathInfo().equals("/included")) {
                        mails.include(request, response);
                    } else {
                        mails.forward(request, response);
                    }
                }
            };
            return new ServletRegistrationBean<>(servlet, "/handed-on/*");
        }

        /** In front of the limits, uses the writer. */
        @Bean
        FilterRegistrationBean<Filter> writing() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                if (request.getParameter("front") != null) {
                    response.getWriter().write("a part of the answer");
                    response.resetBuffer();
                }
                chain.doFilter(request, response);
            });
            filter.setOrder(-1_000);
            return filter;
        }
    }

    @RestController
    static class Pages {

        private final Mails mails;

        Pages(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/page")
        void page(PrintWriter writer) {
            writer.write("a part of the answer");
            mails.send();
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
                List.of(Console.class, Mails.class, Pages.class),
                "ratelimit.policies.console.limit=1000/hour",
                "ratelimit.policies.console.match.paths=/console/**",
                "ratelimit.policies.few.limit=1/hour",
                "ratelimit.policies.few.match.paths=/few",
                "ratelimit.policies.few.response.body=text",
                "ratelimit.policies.few.response.detail=sp\u00e4ter!",
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mails/plain?writes=a",
                "/mails/wrapped?writes=a",
                "/handed-on/forwarded?writes=a",
                "/handed-on/included?writes=a",
                "/page"
            })
    void callThatIsRefused_whileTheAnswerIsWritten_isAnsweredAsByTheFilter(String path) {
        app.get("/mails/plain");

        RawResponse refused = app.get(path);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Content-Type")).startsWith("application/problem+json");
        assertThat(refused.body()).startsWith("{").endsWith("}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mails/plain?later=a", "/mails/wrapped?later=a&writes=a"})
    void callThatIsRefused_inAnAsynchronousDispatch_isAnsweredAsByTheFilter(String path) {
        app.get(path);

        RawResponse refused = app.get(path);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isNotNull();
    }

    @Test
    void refusal_behindAFilterThatUsesTheWriter_isWrittenInItsCharset() {
        app.get("/few");

        RawResponse refused = app.get("/few?front=a");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).isEqualTo("sp\u00e4ter!\n");
        assertThat(refused.header("Content-Length")).isEqualTo("8");
    }
}

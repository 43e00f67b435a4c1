package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RequestPredicates.POST;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.condition.RequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Conditions of the application may read the body when its handler is looked up: once, and keep it for the handler. They can still
 * do that after the limits have looked for the endpoint.
 */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class BodyConditionsTest {

    private static final String BODY = "body";

    /** A request that calls this procedure. */
    private record Calling(String procedure) implements RequestCondition<Calling> {

        @Override
        public Calling combine(Calling other) {
            return other;
        }

        @Override
        public @Nullable Calling getMatchingCondition(HttpServletRequest request) {
            return bodyOf(request).contains(procedure) ? this : null;
        }

        @Override
        public int compareTo(Calling other, HttpServletRequest request) {
            return 0;
        }

        private static String bodyOf(HttpServletRequest request) {
            if (request.getAttribute(BODY) instanceof String known) {
                return known;
            }
            try {
                String body = request.getHeader("X-Text") != null
                        ? request.getReader().lines().collect(Collectors.joining())
                        : new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                request.setAttribute(BODY, body);
                return body;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static class Procedures {

        @ResponseBody
        @RateLimited("1/hour")
        public String add(HttpServletRequest request) {
            return "add of " + request.getAttribute(BODY);
        }

        @ResponseBody
        public String subtract(HttpServletRequest request) {
            return "subtract of " + request.getAttribute(BODY);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Mappings {

        @Bean
        static BeanPostProcessor procedures() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    if (bean instanceof RequestMappingHandlerMapping mapping
                            && name.equals("requestMappingHandlerMapping")) {
                        Stream.of("add", "subtract").forEach(procedure -> register(mapping, procedure));
                    }
                    return bean;
                }
            };
        }

        private static void register(RequestMappingHandlerMapping mapping, String procedure) {
            mapping.registerMapping(
                    RequestMappingInfo.paths("/rpc")
                            .methods(RequestMethod.POST)
                            .customCondition(new Calling(procedure))
                            .options(mapping.getBuilderConfiguration())
                            .build(),
                    new Procedures(),
                    ReflectionUtils.findMethod(Procedures.class, procedure, HttpServletRequest.class));
        }

        @Bean
        RouterFunction<ServerResponse> functions() {
            RequestPredicate once = request -> {
                try {
                    request.servletRequest().setAttribute(BODY, request.body(String.class));
                    return true;
                } catch (Exception e) {
                    return false;
                }
            };
            return RouterFunctions.route(
                    POST("/function").and(once),
                    request -> ServerResponse.ok()
                            .body("function of " + request.attributes().get(BODY)));
        }
    }

    private final RunningApp app;

    BodyConditionsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Mappings.class),
                "ratelimit.policies.each.limit=3/hour",
                "ratelimit.policies.each.key=ip,endpoint");
    }

    private RawResponse post(String path, String body, String... headers) {
        return app.client()
                .sendBody(
                        "POST " + path + " HTTP/1.1",
                        body,
                        Stream.concat(Stream.of("Content-Type: text/plain"), Stream.of(headers))
                                .toArray(String[]::new));
    }

    @Test
    void condition_readsTheBody_whichItsHandlerGets_withItsOwnLimits() {
        assertThat(post("/rpc", "add").body()).isEqualTo("add of add");
        assertThat(post("/rpc", "subtract").body()).isEqualTo("subtract of subtract");
        assertThat(post("/rpc", "add").status()).isEqualTo(429);
        assertThat(post("/rpc", "subtract", "X-Text: true").body()).isEqualTo("subtract of subtract");
    }

    @Test
    void predicate_readsTheBody_whichItsHandlerGets() {
        for (int i = 0; i < 3; i++) {
            assertThat(post("/function", "x" + i).body()).isEqualTo("function of x" + i);
        }
        assertThat(post("/function", "x").status()).isEqualTo(429);
    }
}

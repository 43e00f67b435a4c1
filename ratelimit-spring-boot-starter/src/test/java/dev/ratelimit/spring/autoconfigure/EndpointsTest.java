package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.CompetingRoutes;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.servlet.endpoint.Endpoints;
import dev.ratelimit.spring.servlet.request.AttributeKeepingRequest;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.test.FakeTicker;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletMapping;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletContext;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.ServerHttpObservationFilter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/** The endpoint of a request is the handler that the dispatcher will find. */
@Tag("servers")
class EndpointsTest {

    private final FakeTicker ticker = new FakeTicker();

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    private static final String[] PATHS = {
        "/a",
        "/b",
        "/a/b",
        "/a/c",
        "/a/%62",
        "/a;v=1/b",
        "/A/b",
        "/a/x/c",
        "/ab/x/c",
        "/c/a",
        "/any",
        "/any/x",
        "/any/x/y",
        "/rest",
        "/rest/x/y",
        "/x.txt",
        "/nowhere",
        "/",
        "//a",
        "/a/",
        "/a//c"
    };
    private static final String[] METHODS = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "FOO"};
    private static final String[] TYPES = {"application/json", "text/plain", "image/png", "*/*", "no type"};

    private static HandlerMapping mapping() {
        AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
        context.setServletContext(new MockServletContext());
        context.register(Mvc.class, CompetingRoutes.class);
        context.refresh();
        return context.getBean(RequestMappingHandlerMapping.class);
    }

    /** Asks another mapping, so that nothing can be known about it. */
    private record Asking(HandlerMapping mapping, AtomicInteger asked) implements HandlerMapping {
        @Override
        public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) throws Exception {
            asked.incrementAndGet();
            return mapping.getHandler(request);
        }
    }

    private static MockHttpServletRequest randomRequest(Random random) {
        String path = PATHS[random.nextInt(PATHS.length)];
        MockHttpServletRequest request = new MockHttpServletRequest(METHODS[random.nextInt(METHODS.length)], path);
        if (random.nextBoolean()) {
            request.setContentType(TYPES[random.nextInt(TYPES.length)]);
        }
        if (random.nextBoolean()) {
            request.addHeader("Accept", TYPES[random.nextInt(TYPES.length)]);
        }
        if (random.nextInt(4) == 0) {
            request.addParameter("p", "1");
        }
        if (random.nextInt(4) == 0) {
            request.addHeader("X-H", "1");
        }
        if (random.nextInt(4) == 0) {
            request.setContextPath("/app");
            request.setRequestURI("/app" + path);
        } else if (random.nextBoolean() && path.startsWith("/c/")) {
            request.setServletPath("/c");
            request.setHttpServletMapping(new MockHttpServletMapping("", "/c/*", "", MappingMatch.PATH));
        }
        return request;
    }

    /** The handler that the mapping itself returns, or {@code null} if it refuses or has none of the application's. */
    private static @Nullable String handlerOf(HandlerMapping mapping, MockHttpServletRequest request) {
        HttpServletRequest view = new AttributeKeepingRequest(request);
        ServletRequestPathUtils.parseAndCache(view);
        try {
            mapping.getHandler(view);
            Object pattern = view.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
            Object handler = view.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
            return handler instanceof HandlerMethod method && pattern != null
                    ? method.getMethod().getName() + " " + pattern
                    : null;
        } catch (Exception refused) {
            return null;
        }
    }

    @Test
    void find_randomRequests_isWhatTheMappingWillFind() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        HandlerMapping mapping = mapping();
        Map<Endpoint, String> handlers = new HashMap<>();
        Endpoints endpoints = new Endpoints(
                List.of(mapping),
                new Dispatchers(),
                (endpoint, handler) ->
                        handlers.put(endpoint, handler.getMethod().getName()) == null,
                ticker);
        int found = 0;
        for (int i = 0; i < 20_000; i++) {
            MockHttpServletRequest request = randomRequest(random);
            List<String> before = attributes(request);
            String expected = handlerOf(mapping, request);

            Endpoint endpoint = find(endpoints, request);

            assertThat(attributes(request)).isEqualTo(before);
            if (expected != null) {
                found++;
                assertThat(handlers.get(endpoint) + " " + endpoint.id().split(" ", 2)[1])
                        .as("%s %s, seed %s", request.getMethod(), request.getRequestURI(), seed)
                        .isEqualTo(expected);
            }
        }
        assertThat(found).isGreaterThan(2_000);
    }

    private static Endpoint find(Endpoints endpoints, HttpServletRequest request) {
        return endpoints.resolve(new ServletWebRequest(request, new ServletPaths(new Dispatchers())));
    }

    private static List<String> attributes(MockHttpServletRequest request) {
        Enumeration<String> names = request.getAttributeNames();
        return Collections.list(names);
    }

    @Test
    void find_limitedRoutesOnly_asksNoMappingForOtherPaths() {
        AtomicInteger asked = new AtomicInteger();
        HandlerMapping mapping = mapping();
        Endpoints endpoints = limited(mapping);

        assertThat(endpoints.mayLeadToAnnotated(PathContainer.parsePath("/a/x")))
                .isTrue();
        assertThat(endpoints.mayLeadToAnnotated(PathContainer.parsePath("/a/%78;v=1")))
                .isTrue();
        assertThat(endpoints.mayLeadToAnnotated(PathContainer.parsePath("/any/x")))
                .isFalse();
        Endpoints more = limited(mapping, new Asking(mapping, asked));
        find(more, new MockHttpServletRequest("GET", "/a/x"));
        assertThat(asked).hasValue(0);
        find(more, new MockHttpServletRequest("GET", "/nowhere"));
        assertThat(asked).hasValue(1);
    }

    @Test
    @DisplayName("controllers that come or go later have their own endpoints, not those of similar paths")
    void resolve_registeredLater_isWhatTheMappingWillFind() throws Exception {
        RequestMappingHandlerMapping mapping = (RequestMappingHandlerMapping) mapping();
        Endpoints endpoints = limited(mapping);
        assertThat(idOf(endpoints, "/a/later")).isEqualTo("GET /a/{x}");
        assertThat(idOf(endpoints, "/later")).isEqualTo(Endpoint.NOWHERE.id());

        RequestMappingInfo later = RequestMappingInfo.paths("/a/later", "/later")
                .methods(RequestMethod.GET)
                .options(mapping.getBuilderConfiguration())
                .build();
        mapping.registerMapping(later, new CompetingRoutes(), CompetingRoutes.class.getDeclaredMethod("a"));
        ticker.advance(Duration.ofSeconds(1));

        assertThat(idOf(endpoints, "/a/later")).isEqualTo("GET /a/later");
        assertThat(idOf(endpoints, "/later")).isEqualTo("GET /later");
        assertThat(idOf(endpoints, "/a/x")).isEqualTo("GET /a/{x}");
        mapping.unregisterMapping(later);
        assertThat(idOf(endpoints, "/a/later")).isEqualTo("GET /a/{x}");
        assertThat(idOf(endpoints, "/later")).isEqualTo(Endpoint.NOWHERE.id());
    }

    private static String idOf(Endpoints endpoints, String path) {
        return find(endpoints, new MockHttpServletRequest("GET", path)).id();
    }

    @Test
    void resolve_pathWithoutVariables_asksMappingsThatComeBefore() {
        AtomicInteger asked = new AtomicInteger();
        HandlerMapping mapping = mapping();

        assertThat(find(limited(new Asking(mapping, asked), mapping), new MockHttpServletRequest("GET", "/a"))
                        .id())
                .isEqualTo("GET /a");
        assertThat(asked).hasValue(1);
    }

    private Endpoints limited(HandlerMapping... mappings) {
        return new Endpoints(
                List.of(mappings),
                new Dispatchers(),
                (endpoint, handler) -> handler.getMethod().getName().equals("ax"),
                ticker);
    }

    @Test
    void find_anyRoute_isObservedUnderItsPattern() {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/a/x");
        ServerRequestObservationContext observed =
                new ServerRequestObservationContext(request, new MockHttpServletResponse());
        request.setAttribute(ServerHttpObservationFilter.CURRENT_OBSERVATION_CONTEXT_ATTRIBUTE, observed);

        find(limited(mapping()), request);
        assertThat(observed.getPathPattern()).isEqualTo("/a/{x}");
        request.setRequestURI("/rest/x"); // nothing else matches
        find(limited(mapping()), request);
        assertThat(observed.getPathPattern()).isEqualTo("/rest/{*rest}");
    }

    @Test
    void mayLeadToAnnotated_mappingOfTheApplication_isAskedForAnyPath() {
        HandlerMapping mapping = mapping();
        PathContainer path = PathContainer.parsePath("/tenant/a/x");

        assertThat(limited(mapping).mayLeadToAnnotated(path)).isFalse();
        assertThat(limited(mapping, new Asking(mapping, new AtomicInteger())).mayLeadToAnnotated(path))
                .isTrue();
        assertThat(new Endpoints(
                                List.of(new Asking(mapping, new AtomicInteger())),
                                new Dispatchers(),
                                (endpoint, handler) -> true,
                                ticker)
                        .mayLeadToAnnotated(path))
                .as("nothing is annotated")
                .isFalse();
    }

    /** A servlet besides Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    static class OtherServlet {
        @Bean
        ServletRegistrationBean<HttpServlet> console() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                                throws IOException {
                            response.getWriter().write("console");
                        }
                    },
                    "/console/*");
        }
    }

    @Test
    void otherServlet_isNoEndpointOfSpringMvc_andItsPathIsMatchedInFull() {
        try (RunningApp app = RunningApp.start(
                List.of(CompetingRoutes.class, OtherServlet.class),
                "ratelimit.policies.e.limit=1/hour",
                "ratelimit.policies.e.key=endpoint",
                "ratelimit.policies.c.limit=100/hour",
                "ratelimit.policies.c.match.paths=/console/**")) {

            assertThat(app.get("/console/a/b").body()).contains("console");
            assertThat(app.get("/a/b").status()).isEqualTo(200);
            assertThat(app.get("/console/c").status()).isEqualTo(429);
            app.awaitCounted("c", "admitted", 1);
        }
    }

    /** Pages without a pattern. */
    @Configuration(proxyBeanMethods = false)
    static class Pages implements WebMvcConfigurer {
        @Override
        public void addViewControllers(ViewControllerRegistry registry) {
            registry.addStatusController("/page", HttpStatus.ACCEPTED);
        }
    }

    @Test
    void pathsWithoutAHandler_doNotUseUpThePages(@TempDir Path directory) throws IOException {
        Files.createDirectories(directory.resolve("files"));
        Files.writeString(directory.resolve("files/a b.txt"), "the file");
        Files.writeString(directory.resolve("index.html"), "welcome");
        try (RunningApp app = RunningApp.start(
                List.of(CompetingRoutes.class, OtherServlet.class, Pages.class),
                "spring.web.resources.static-locations=" + directory.toUri(),
                "ratelimit.policies.e.limit=5/hour",
                "ratelimit.policies.e.key=endpoint")) {
            for (int i = 0; i < 6; i++) {
                assertThat(app.get("/no/such/path" + i).status()).isEqualTo(i < 5 ? 404 : 429);
            }

            // other spellings of a file are the same file
            assertThat(app.get("/files/a%20b.txt;").body()).contains("the file");
            assertThat(app.get("/page").status()).isEqualTo(202);
            assertThat(app.get("/files/a%20b.txt").body()).contains("the file");
            assertThat(app.get("/index.html").body()).contains("welcome");
            assertThat(app.get("/console/x").body()).contains("console");
            assertThat(app.get("/page").status()).isEqualTo(429); // five times in total
            assertThat(app.get("/files/none").status()).isEqualTo(429); // no handler
        }
    }

    @Test
    void contextAndServletPath_areNoPartOfPatterns() {
        try (RunningApp app = RunningApp.start(
                List.of(CompetingRoutes.class),
                "server.servlet.context-path=/ctx",
                "spring.mvc.servlet.path=/mvc",
                "ratelimit.policies.e.limit=1/hour",
                "ratelimit.policies.e.key=endpoint",
                "ratelimit.policies.p.limit=100/hour",
                "ratelimit.policies.p.match.paths=/a/**")) {

            assertThat(app.get("/ctx/mvc/a/x").status()).isEqualTo(200);
            assertThat(app.get("/ctx/mvc/a/y").status()).isEqualTo(429);
            assertThat(app.get("/ctx/mvc/a/b").status()).isEqualTo(200);
            app.awaitCounted("p", "admitted", 2);
        }
    }
}

package dev.ratelimit.benchmarks.spring;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.servlet.endpoint.Endpoints;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockServletContext;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.context.support.GenericWebApplicationContext;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The cost of finding the endpoint of a request among this number of endpoints with a variable in their paths, one of
 * which is limited. {@code springMvc} is Spring MVC's own look-up, which the dispatcher does in addition.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class EndpointBenchmark {

    /** The number of endpoints. */
    @Param({"10", "1000"})
    public int routes;

    private final RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
    private final ServletPaths paths = new ServletPaths(new Dispatchers());
    private Endpoints endpoints =
            new Endpoints(List.of(), new Dispatchers(), (endpoint, handler) -> false, Ticker.system());

    /** The target of all routes. */
    public static final class Controller {
        /** An answer. */
        public String answer() {
            return "";
        }

        /** An answer, with a limit. */
        public String limited() {
            return "";
        }
    }

    /** Maps the routes. */
    @Setup
    public void map() {
        GenericWebApplicationContext context = new GenericWebApplicationContext(new MockServletContext());
        context.refresh();
        mapping.setApplicationContext(context);
        mapping.afterPropertiesSet();
        RequestMappingInfo.BuilderConfiguration options = new RequestMappingInfo.BuilderConfiguration();
        options.setPatternParser(mapping.getPatternParser());
        for (int i = 0; i < routes; i++) {
            String method = i == routes / 2 ? "limited" : "answer";
            mapping.registerMapping(
                    RequestMappingInfo.paths("/api/resource" + i + "/{id}")
                            .methods(RequestMethod.GET)
                            .options(options)
                            .build(),
                    new Controller(),
                    ClassUtils.getMethod(Controller.class, method));
        }
        endpoints = new Endpoints(
                List.of(mapping),
                new Dispatchers(),
                (endpoint, handler) -> handler.getMethod().getName().equals("limited"),
                Ticker.system());
    }

    /** Recognizes the path of the limited endpoint, and finds the endpoint. */
    @Benchmark
    public Endpoint limited() {
        MockHttpServletRequest request = request(routes / 2);
        PathContainer path = paths.pathOf(request);
        return endpoints.mayLeadToAnnotated(path) ? endpoints.find(request, path) : Endpoint.UNMAPPED;
    }

    /** Recognizes that the path leads to another endpoint. */
    @Benchmark
    public Endpoint notLimited() {
        MockHttpServletRequest request = request(routes / 2 + 1);
        PathContainer path = paths.pathOf(request);
        return endpoints.mayLeadToAnnotated(path) ? endpoints.find(request, path) : Endpoint.UNMAPPED;
    }

    /** Only creates the request, which is part of the others. */
    @Benchmark
    public MockHttpServletRequest requestOnly() {
        return request(routes / 2);
    }

    /** Spring MVC's look-up. */
    @Benchmark
    public @Nullable HandlerExecutionChain springMvc() throws Exception {
        MockHttpServletRequest request = request(routes / 2);
        ServletRequestPathUtils.parseAndCache(request);
        return mapping.getHandler(request);
    }

    private static MockHttpServletRequest request(int route) {
        return new MockHttpServletRequest("GET", "/api/resource" + route + "/4711");
    }
}

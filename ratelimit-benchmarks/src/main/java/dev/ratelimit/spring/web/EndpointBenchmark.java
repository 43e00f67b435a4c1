package dev.ratelimit.spring.web;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.Allowances;
import dev.ratelimit.spring.RetryJitter;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleKey;
import dev.ratelimit.spring.RuleMatch;
import dev.ratelimit.spring.Stage;
import java.util.List;
import java.util.Map;
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
 * What it takes to find out which endpoint a request leads to, among so many with a variable in their paths of which one is
 * limited. {@code springMvc} is Spring MVC's own look-up, which the dispatcher does besides.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class EndpointBenchmark {

    /** How many endpoints there are. */
    @Param({"10", "1000"})
    public int routes;

    private final RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
    private Endpoints endpoints = new Endpoints(List.of(), handler -> List.of(), handler -> false);

    /** What all routes lead to. */
    public static final class Controller {
        /** Answers. */
        public String answer() {
            return "";
        }

        /** Answers, within limits. */
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
        Policy policy = Policy.of("limited", TokenBucket.of(Rate.parse("100/second")));
        Rule rule = new Rule(
                policy,
                RuleMatch.ANNOTATED,
                RuleKey.SHARED,
                new Allowances(List.of(), Map.of(), List.of(), call -> null, Map.of(), new Allowance.Limited(policy)),
                Rule.Price.of(1),
                Stage.AUTO,
                null,
                RetryJitter.DEFAULT);
        endpoints = new Endpoints(
                List.of(mapping),
                handler -> handler.getMethod().getName().equals("limited") ? List.of(rule) : List.of(),
                handler -> false);
    }

    /** The path of the limited endpoint is recognised, and its endpoint found. */
    @Benchmark
    public Endpoint limited() {
        MockHttpServletRequest request = request(routes / 2);
        return endpoints.mayHaveRules(endpoints.pathOf(request)) ? endpoints.find(request) : Endpoint.UNMAPPED;
    }

    /** The path of another endpoint is recognised as such. */
    @Benchmark
    public Endpoint notLimited() {
        MockHttpServletRequest request = request(routes / 2 + 1);
        return endpoints.mayHaveRules(endpoints.pathOf(request)) ? endpoints.find(request) : Endpoint.UNMAPPED;
    }

    /** The request alone, which is part of the others. */
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

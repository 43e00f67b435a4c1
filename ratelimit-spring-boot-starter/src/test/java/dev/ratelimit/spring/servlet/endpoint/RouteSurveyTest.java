package dev.ratelimit.spring.servlet.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RequestPredicates.GET;
import static org.springframework.web.servlet.function.RequestPredicates.path;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Paths, methods and path variables that nothing in the application has are warned of, and nothing else is. */
@ExtendWith(OutputCaptureExtension.class)
class RouteSurveyTest {

    private static final String A = "ratelimit.policies.a=5/minute";

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(OnBoot.webMvc(OnBoot.ERRORS, RateLimitAutoConfiguration.class))
            .withUserConfiguration(Api.class);

    private final WebApplicationContextRunner server = OnBoot.withServer()
            .withConfiguration(OnBoot.webMvc(OnBoot.ERRORS, RateLimitAutoConfiguration.class))
            .withUserConfiguration(Api.class)
            .withPropertyValues("server.port=0");

    @RestController
    static class Api {

        @GetMapping("/hello")
        String hello() {
            return "hello";
        }

        @GetMapping("/orders/{id}")
        String order(@PathVariable String id) {
            return id;
        }

        @PostMapping("/orders")
        String create() {
            return "";
        }
    }

    private void start(WebApplicationContextRunner application, String property) {
        String separator = property.startsWith("exempt") ? "ratelimit." : "ratelimit.policies.a.";
        application
                .withPropertyValues(
                        property.startsWith("match") || property.startsWith("key")
                                ? "ratelimit.policies.a.limit=5/minute"
                                : A)
                .withPropertyValues(separator + property)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "match.paths=/helo | 'a' is for /helo, but no controller, static file or servlet has such a path, so it limits only requests that nothing answers. Did you mean /hello?",
                "match.paths=/hello, /elsewhere | 'a' is for /elsewhere, but no controller, static file or servlet has such a path; unless a filter answers it, it limits only",
                "match.paths=/hello.* | 'a' is for /hello.*, but no controller, static file or servlet has such a path, so it limits only requests that nothing answers. Did you mean /hello/**?",
                "match.paths=/hello.*/x | 'a' is for /hello.*/x, but no controller",
                "match.paths=/order/** | Did you mean /orders/**?",
                "match.methods=PATCH | 'a' is for PATCH on all paths, but what answers there is for GET, POST only",
                "match.except-paths=/Hello | 'a' excludes /Hello, but no controller, static file or servlet has such a path, so nothing is excluded. Did you mean /hello?",
                "exempt.paths=/helth | ratelimit.exempt.paths has /helth, but no controller, static file or servlet has such a path; unless a filter answers it, nothing is exempt",
                "exempt.paths=/HELLO | so nothing is exempt there. Did you mean /hello?",
                "key=path:idd | 'a' is by path:idd, but no endpoint has a variable {idd} (did you mean 'id'?), so callers are identified by their address instead"
            })
    void pattern_thatNothingHas_isWarnedOf(String property, String warning, CapturedOutput output) {
        start(runner, property);

        assertThat(output).contains("WARN").contains(warning);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "PUT | /hello | 'a' is for PUT on /hello, but what answers there is for GET only",
                "DELETE,PUT | /orders/** | 'a' is for DELETE, PUT on /orders/**, but what answers there is for GET, POST only"
            })
    void methods_thatNoRouteHas_areWarnedOf(String methods, String paths, String warning, CapturedOutput output) {
        start(runner.withPropertyValues("ratelimit.policies.a.match.methods=" + methods), "match.paths=" + paths);

        assertThat(output).contains("WARN").contains(warning);
    }

    @ParameterizedTest
    @CsvSource({
        "skip, it limits nobody",
        "shared, all callers share one budget",
        "reject, it refuses every request",
        "ip, callers are identified by their address instead"
    })
    void pathVariable_thatNoRouteHas_isWarnedOf_withTheConsequence(
            String missing, String consequence, CapturedOutput output) {
        start(
                runner.withPropertyValues(
                        "ratelimit.policies.a.match.paths=/orders/**", "ratelimit.policies.a.missing-key=" + missing),
                "key=path:order");

        assertThat(output)
                .contains("'a' is by path:order, but no endpoint on /orders/** has a variable {order}, so "
                        + consequence);
    }

    @RestController
    static class Annotated {

        @GetMapping("/named/{id}")
        @RateLimited(value = "5/minute", key = "path:name", name = "own")
        @RateLimited(policy = "a")
        String named() {
            return "";
        }
    }

    @Test
    void pathVariable_ofAnnotations_isComparedWithTheirEndpoints(CapturedOutput output) {
        start(
                runner.withUserConfiguration(Annotated.class)
                        .withPropertyValues("ratelimit.policies.a.match.annotated=true"),
                "key=path:id");

        assertThat(output)
                .contains("'own' is by path:name, but no endpoint whose annotation names it has a variable {name}")
                .doesNotContain("'a' is by");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "match.paths=/hello",
                "match.paths=/HELLO",
                "match.paths=/**",
                "match.paths=/orders/7",
                "match.paths=/{page}",
                "match.paths=/error",
                "match.paths=/webjars/**",
                "match.methods=GET",
                "match.methods=HEAD",
                "match.methods=OPTIONS",
                "match.except-paths=/orders/{id}",
                "exempt.paths=/hello",
                "key=path:id"
            })
    void pattern_thatSomethingHas_isNotWarnedOf(String property, CapturedOutput output) {
        start(runner, property);

        assertNoWarning(output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/*/**", "/{a}/{*b}", "/{a:.*}/**", "/error, /hello/**, /*/**"})
    void exemptions_thatCoverAllThatAnswers_areWarnedOf(String paths, CapturedOutput output) {
        start(runner, "exempt.paths=" + paths);

        assertThat(output)
                .contains("ratelimit.exempt.paths: " + paths
                        + " cover the paths of every controller, static file and servlet, so nothing is limited");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "exempt.paths=/hello, /orders/**",
                "exempt.paths=/*",
                "match.except-paths=/hello, /orders, /orders/{id}",
                "match.except-paths=/hello, /orders, /orders/{id}, /error, /webjars/**",
                "match.except-paths=/orders/**"
            })
    void patterns_thatLeaveSomething_areNotWarnedOf(String property, CapturedOutput output) {
        start(runner, property);

        assertNoWarning(output);
    }

    @RestController
    static class Home {

        @GetMapping("/")
        String home() {
            return "home";
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Home.class, OwnMapping.class})
    void patterns_thatLeaveTheRoot_areNotWarnedOfIfSomethingMayAnswerThere(Class<?> bean, CapturedOutput output) {
        start(runner.withUserConfiguration(bean), "exempt.paths=/*/**");

        assertNoWarning(output);
    }

    @Test
    void policy_withARateAndAConcurrency_isWarnedOfOnce(CapturedOutput output) {
        start(runner.withPropertyValues("ratelimit.policies.a.concurrency=2"), "match.paths=/helo");

        assertThat(output).containsOnlyOnce("Did you mean /hello?");
    }

    @Test
    void testOfAPartOfTheApplication_warnsOfNothing(CapturedOutput output) {
        start(
                runner.withBean(
                        MockMvc.class,
                        () -> MockMvcBuilders.standaloneSetup(new Api()).build()),
                "match.paths=/helo");

        assertNoWarning(output);
    }

    @Test
    void policy_thatIsOff_isNotWarnedOf(CapturedOutput output) {
        start(runner.withPropertyValues("ratelimit.policies.a.mode=off"), "match.paths=/helo");

        assertNoWarning(output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/files/**", "/files/main.css", "/files/*.css", "/files/{name}.css", "/FILES/**"})
    void staticFiles_areFound(String paths, CapturedOutput output) {
        start(
                runner.withPropertyValues(
                        "spring.web.resources.static-locations=classpath:/dev/ratelimit/spring/static/"),
                "match.paths=" + paths);

        assertNoWarning(output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/files", "/file/**", "/files/main.js", "/files/*.js"})
    void staticFiles_thatAreMissing_areWarnedOf(String paths, CapturedOutput output) {
        start(
                runner.withPropertyValues(
                        "spring.web.resources.static-locations=classpath:/dev/ratelimit/spring/static/"),
                "match.paths=" + paths);

        assertThat(output).contains("'a' is for " + paths + ", but no controller");
    }

    @Test
    void staticFiles_outsideOfTheApplication_mayAppearLater(CapturedOutput output) {
        start(
                runner.withPropertyValues("spring.web.resources.static-locations=file:/nowhere/at/all/"),
                "match.paths=/uploads/**");

        assertNoWarning(output);
    }

    @Configuration(proxyBeanMethods = false)
    static class Others implements WebMvcConfigurer {

        @Override
        public void addViewControllers(ViewControllerRegistry registry) {
            registry.addViewController("/view");
        }

        @Bean
        ServletRegistrationBean<HttpServlet> servlet() {
            return new ServletRegistrationBean<>(new HttpServlet() {}, "/servlet/*", "*.do");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneFunction {

        @Bean
        RouterFunction<ServerResponse> functions() {
            return RouterFunctions.nest(
                    path("/fn"),
                    RouterFunctions.route(
                            GET("/{name}"), request -> ServerResponse.ok().build()));
        }
    }

    /** Tomcat may warn of what another application of this process has begun. */
    private static void assertNoWarning(CapturedOutput output) {
        assertThat(output.toString()
                        .lines()
                        .filter(line -> line.contains("WARN") && !line.contains("o.apache.tomcat.")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/view", "/servlet/x/y", "/a/b.do"})
    @Tag("servers")
    void viewsAndServlets_areKnown(String paths, CapturedOutput output) {
        start(server.withUserConfiguration(Others.class), "match.paths=" + paths);

        assertNoWarning(output);
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnMapping {

        @Bean
        HandlerMapping mine() {
            return new HandlerMapping() {
                @Override
                public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
                    return null;
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Everything {

        @Bean
        ServletRegistrationBean<HttpServlet> servlet() {
            return new ServletRegistrationBean<>(new HttpServlet() {}, "/*");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OwnMapping.class, OneFunction.class, Everything.class})
    @Tag("servers")
    void whatCannotBeAsked_mayHaveAnyPath(Class<?> configuration, CapturedOutput output) {
        start(server.withUserConfiguration(configuration), "match.paths=/helo");

        assertNoWarning(output);
    }

    @Configuration(proxyBeanMethods = false)
    static class Late {

        @Autowired
        RequestMappingHandlerMapping requestMappingHandlerMapping;

        @EventListener
        void register(ContextRefreshedEvent event) throws NoSuchMethodException {
            Method hello = Api.class.getDeclaredMethod("hello");
            requestMappingHandlerMapping.registerMapping(
                    RequestMappingInfo.paths("/late")
                            .options(requestMappingHandlerMapping.getBuilderConfiguration())
                            .build(),
                    new Api(),
                    hello);
        }
    }

    @Test
    void controller_thatIsRegisteredWhenAllIsReady_isKnown(CapturedOutput output) {
        start(runner.withUserConfiguration(Late.class), "match.paths=/late");

        assertNoWarning(output);
    }

    /** Many properties move a policy behind Spring Security by themselves. */
    @Test
    void login_thatSpringSecurityAnswersBeforeTheLimit_isAWarningWithTheRemedy(CapturedOutput output) {
        WebApplicationContextRunner secured = runner.withConfiguration(OnBoot.security());

        start(
                secured.withPropertyValues("ratelimit.policies.a.key=#request.getParameter('username')"),
                "match.paths=/login");
        assertThat(output)
                .contains(
                        "'a' is for /login: no controller, static file or servlet has such a path, and where a filter of"
                                + " Spring Security answers it, the limit never applies, because it comes after Spring Security."
                                + " Write stage: before-security");

        start(secured.withPropertyValues("ratelimit.policies.a.key=user"), "match.paths=/oauth2/token");
        assertThat(output).contains("whom nobody knows before Spring Security: write another key");
    }

    @RestController
    static class LoginPage {

        @GetMapping("/login")
        String page() {
            return "form";
        }
    }

    /** The application has the page, and Spring Security answers what the form sends. */
    @Test
    void login_withAPageOfTheApplication_isAWarningWithTheRemedy(CapturedOutput output) {
        WebApplicationContextRunner secured = runner.withConfiguration(OnBoot.security())
                .withUserConfiguration(LoginPage.class)
                .withPropertyValues("ratelimit.policies.a.key=#request.getParameter('username')");

        start(secured.withPropertyValues("ratelimit.policies.a.match.methods=POST"), "match.paths=/login");
        assertThat(output)
                .contains(
                        "'a' is for /login: no controller, static file or servlet has such a path for POST, and where a filter of"
                                + " Spring Security answers it, the limit never applies");

        start(secured.withPropertyValues("ratelimit.policies.a.match.methods=GET"), "match.paths=/login");
        assertThat(output).doesNotContain("for GET");
    }

    @Test
    void login_thatOnlySpringSecurityMayAnswer_isNoWarning(CapturedOutput output) {
        WebApplicationContextRunner secured = runner.withConfiguration(OnBoot.security());

        start(secured.withPropertyValues("ratelimit.policies.a.match.methods=POST"), "match.paths=/perform_login");
        assertThat(output)
                .contains(
                        "'a' is for /perform_login: no controller, static file or servlet has such a path, but a filter of"
                                + " Spring Security may answer it")
                .doesNotContain("WARN dev.ratelimit");

        start(secured, "match.paths=/helo");
        assertThat(output).contains("Did you mean /hello?");
    }
}

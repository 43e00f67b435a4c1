package dev.ratelimit.spring.boot.version;

import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;

/** Spring Boot 3.5: the names of its classes and dependencies, and what is done in another way since. */
public final class Boot {

    /** What the names of our modules begin with. */
    public static final String MODULES = "ratelimit-spring-boot3";

    public static final String WEB_STARTER = "spring-boot-starter-web";

    private static final String PREFIX = "org.springframework.boot.";
    private static final String AUTO = PREFIX + "autoconfigure.";
    private static final String METRICS = PREFIX + "actuate.autoconfigure.metrics.";

    public static final String WEB_MVC = AUTO + "web.servlet.WebMvcAutoConfiguration";
    public static final String WELCOME_PAGE = AUTO + "web.servlet.WelcomePageNotAcceptableHandlerMapping";
    public static final String ERRORS = PREFIX + "web.servlet.error.ErrorController";
    public static final String WEB_FLUX = AUTO + "web.reactive.WebFluxAutoConfiguration";
    public static final String SECURITY = AUTO + "security.servlet.SecurityFilterAutoConfiguration";
    public static final String REACTIVE_SECURITY = AUTO + "security.reactive.ReactiveSecurityAutoConfiguration";
    public static final String REGISTRIES = METRICS + "CompositeMeterRegistryAutoConfiguration";
    public static final String SIMPLE_REGISTRY = METRICS + "export.simple.SimpleMetricsExportAutoConfiguration";
    public static final String OBSERVATIONS = PREFIX + "actuate.autoconfigure.observation.ObservationAutoConfiguration";
    public static final String REDIS = AUTO + "data.redis.RedisAutoConfiguration";
    public static final String REDIS_DETAILS = AUTO + "data.redis.RedisConnectionDetails";
    public static final String MVC_ACTUATOR = PREFIX + "actuate.endpoint.web.servlet.";
    public static final String WEB_FLUX_ACTUATOR = PREFIX + "actuate.endpoint.web.reactive.";

    /** Beans that are there if a test may have replaced others by mocks or the like: the first one in each test. */
    public static final List<String> TEST_OVERRIDES = List.of(
            PREFIX + "test.mock.mockito.MockitoPostProcessor",
            "org.springframework.test.context.bean.override.internalBeanOverridePostProcessor");

    private Boot() {}

    /** Whether the application runs on a server, its own or another one; a test of a part of it does not. */
    public static boolean isServer(ApplicationContext context) {
        return context instanceof WebServerApplicationContext;
    }

    /** Whether the application has a server of its own. */
    public static boolean hasServer(ApplicationContext context) {
        return context instanceof WebServerApplicationContext web && web.getWebServer() != null;
    }

    /** Whether the servers of Redis are named without saying which one is the master, for which 3.5 has no property. */
    public static boolean hidesMaster(BeanFactory beans) {
        return false;
    }
}

package dev.ratelimit.spring.boot.version;

import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;

/** Spring Boot 4: the names of its classes and dependencies, and what is done in another way before. */
public final class Boot {

    /** What the names of our modules begin with. */
    public static final String MODULES = "ratelimit-spring-boot";

    public static final String WEB_STARTER = "spring-boot-starter-webmvc";

    private static final String PREFIX = "org.springframework.boot.";
    private static final String MVC = PREFIX + "webmvc.autoconfigure.";
    private static final String METRICS = PREFIX + "micrometer.metrics.autoconfigure.";

    public static final String WEB_MVC = MVC + "WebMvcAutoConfiguration";
    public static final String WELCOME_PAGE = MVC + "WelcomePageNotAcceptableHandlerMapping";
    public static final String ERRORS = PREFIX + "webmvc.error.ErrorController";
    public static final String WEB_FLUX = PREFIX + "webflux.autoconfigure.WebFluxAutoConfiguration";
    public static final String SECURITY = PREFIX + "security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration";
    public static final String REACTIVE_SECURITY =
            PREFIX + "security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration";
    public static final String REGISTRIES = METRICS + "CompositeMeterRegistryAutoConfiguration";
    public static final String SIMPLE_REGISTRY = METRICS + "export.simple.SimpleMetricsExportAutoConfiguration";
    public static final String OBSERVATIONS =
            PREFIX + "micrometer.observation.autoconfigure.ObservationAutoConfiguration";
    public static final String REDIS = PREFIX + "data.redis.autoconfigure.DataRedisAutoConfiguration";
    public static final String REDIS_DETAILS = PREFIX + "data.redis.autoconfigure.DataRedisConnectionDetails";
    public static final String MVC_ACTUATOR = PREFIX + "webmvc.actuate.endpoint.web.";
    public static final String WEB_FLUX_ACTUATOR = PREFIX + "webflux.actuate.endpoint.web.";

    /** Beans that are there if a test may have replaced others by mocks or the like. */
    public static final List<String> TEST_OVERRIDES =
            List.of("org.springframework.test.context.bean.override.internalBeanOverridePostProcessor");

    private Boot() {}

    /** Whether the application runs on a server, its own or another one; a test of a part of it does not. */
    public static boolean isServer(ApplicationContext context) {
        return context instanceof WebServerApplicationContext;
    }

    /** Whether the application has a server of its own. */
    public static boolean hasServer(ApplicationContext context) {
        return context instanceof WebServerApplicationContext web && web.getWebServer() != null;
    }

    /** Whether the servers of Redis are named without saying which one is the master. */
    public static boolean hidesMaster(BeanFactory beans) {
        DataRedisConnectionDetails details =
                beans.getBeanProvider(DataRedisConnectionDetails.class).getIfAvailable();
        return details != null && details.getMasterReplica() != null;
    }
}

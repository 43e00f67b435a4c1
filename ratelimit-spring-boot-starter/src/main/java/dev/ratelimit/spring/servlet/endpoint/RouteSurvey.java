package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.path.Routes.Route;
import dev.ratelimit.spring.rules.request.Endpoint;
import jakarta.servlet.ServletContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;
import org.springframework.web.servlet.support.WebContentGenerator;

/** Lists what answers requests, as far as it can be asked: handlers of Spring MVC, other servlets and static files. */
public final class RouteSurvey {

    private static final String EVERY_PATH = "/**";

    /** Those that never lead to a handler of their own. */
    private static final Set<String> EMPTY = Set.of(
            "org.springframework.web.servlet.config.annotation.WebMvcConfigurationSupport$EmptyHandlerMapping",
            Boot.WELCOME_PAGE);

    /** Registers WebSocket endpoints with the server, which answers handshakes in a filter of its own. */
    private static final String WEB_SOCKETS = "org.springframework.web.socket.server.standard.ServerEndpointExporter";

    /** Spring Boot's name of the servlet that asks the mappings. */
    private static final String DISPATCHER = "dispatcherServlet";

    /** In each test of a part of an application. */
    private static final String MOCK_MVC = "org.springframework.test.web.servlet.MockMvc";

    private final WebApplicationContext context;
    private final List<Route> routes = new ArrayList<>();
    private final List<ResourceHttpRequestHandler> files = new ArrayList<>();
    private boolean anything;

    private RouteSurvey(WebApplicationContext context) {
        this.context = context;
    }

    /**
     * Asks these mappings and all servlets.
     *
     * @param logins whether Spring Security is present
     */
    public static Routes of(WebApplicationContext context, List<HandlerMapping> mappings, boolean logins) {
        RouteSurvey survey = new RouteSurvey(context);
        mappings.forEach(survey::add);
        survey.addServlets();
        survey.anything |= hasBean(context, WEB_SOCKETS);
        List<ResourceHttpRequestHandler> files = survey.files;
        return new Routes(
                survey.routes,
                pattern -> files.stream().anyMatch(handler -> StaticFiles.mayMatch(handler, pattern, context)),
                survey.anything,
                logins);
    }

    private void add(HandlerMapping mapping) {
        if (EMPTY.contains(mapping.getClass().getName())) {
            return;
        }
        if (mapping instanceof RequestMappingInfoHandlerMapping controllers) {
            controllers.getHandlerMethods().forEach((info, handler) -> add(info, isForErrors(handler)));
        } else if (mapping instanceof RouterFunctionMapping functions) {
            anything |= functions.getRouterFunction() != null || functions.getDefaultHandler() != null;
        } else if (mapping instanceof AbstractUrlHandlerMapping urls) {
            add(urls);
        } else {
            anything = true;
        }
    }

    private static boolean isForErrors(HandlerMethod handler) {
        return Stream.of(ClassUtils.getAllInterfacesForClass(handler.getBeanType()))
                .anyMatch(type -> type.getName().equals(Boot.ERRORS));
    }

    /** Every application has an error page, whose mapping names no method, but nobody sends anything else to it. */
    private void add(RequestMappingInfo info, boolean error) {
        Set<String> methods = error
                ? Set.of("GET")
                : info.getMethodsCondition().getMethods().stream()
                        .map(method -> Endpoint.methodOf(method.name()))
                        .collect(Collectors.toSet());
        info.getPatternValues().forEach(pattern -> routes.add(new Route(methods, pattern)));
    }

    private void add(AbstractUrlHandlerMapping urls) {
        if (urls.getRootHandler() != null) {
            routes.add(new Route(methodsOf(urls.getRootHandler()), "/"));
        }
        anything |= urls.getDefaultHandler() != null;
        Map<String, Object> handlers = urls.getHandlerMap();
        handlers.forEach((pattern, handler) -> {
            if (pattern.equals(EVERY_PATH) && handler instanceof ResourceHttpRequestHandler resources) {
                files.add(resources);
            } else {
                routes.add(new Route(methodsOf(handler), pattern));
            }
        });
    }

    /** Static files and views are answers to some methods only. */
    private static Set<String> methodsOf(Object handler) {
        String[] methods = handler instanceof WebContentGenerator generator ? generator.getSupportedMethods() : null;
        return methods == null
                ? Set.of()
                : Stream.of(methods).map(Endpoint::methodOf).collect(Collectors.toSet());
    }

    /** Only a server knows the servlets: it is there when the application is ready. */
    private void addServlets() {
        ServletContext server = context.getServletContext();
        if (server != null) {
            server.getServletRegistrations().values().stream()
                    .filter(registration -> !registration.getName().equals(DISPATCHER))
                    .forEach(registration -> registration.getMappings().forEach(this::addServlet));
        }
    }

    /** The patterns of servlets are exact paths, {@code /path/*}, {@code *.extension}, or {@code /} for everything. */
    private void addServlet(String mapping) {
        if (mapping.equals("/") || mapping.equals("/*")) {
            anything = true;
        } else if (mapping.startsWith("*.")) {
            routes.add(new Route(Set.of(), "/**/" + mapping));
        } else {
            routes.add(new Route(Set.of(), mapping.replaceFirst("/\\*$", EVERY_PATH)));
        }
    }

    /** Whether this may be a part of the application for a test, such as one controller. */
    public static boolean isOfPart(WebApplicationContext context) {
        return hasBean(context, MOCK_MVC);
    }

    private static boolean hasBean(WebApplicationContext context, String type) {
        ClassLoader loader = context.getClassLoader();
        return ClassUtils.isPresent(type, loader)
                && context.getBeanNamesForType(ClassUtils.resolveClassName(type, loader), true, false).length > 0;
    }
}

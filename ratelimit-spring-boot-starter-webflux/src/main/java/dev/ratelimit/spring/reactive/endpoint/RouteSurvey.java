package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.path.Routes.Route;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.support.RouterFunctionMapping;
import org.springframework.web.reactive.handler.AbstractUrlHandlerMapping;
import org.springframework.web.reactive.resource.CachingResourceResolver;
import org.springframework.web.reactive.resource.EncodedResourceResolver;
import org.springframework.web.reactive.resource.PathResourceResolver;
import org.springframework.web.reactive.resource.ResourceWebHandler;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.pattern.PathPattern;

/** Lists what answers requests, as far as it can be asked: handlers of WebFlux and static files. */
public final class RouteSurvey {

    /** Resolvers that find a file under its own name. */
    private static final List<Class<?>> BY_NAME =
            List.of(PathResourceResolver.class, CachingResourceResolver.class, EncodedResourceResolver.class);

    private final ApplicationContext context;
    private final List<Route> routes = new ArrayList<>();
    private final List<ResourceWebHandler> files = new ArrayList<>();
    private boolean anything;

    private RouteSurvey(ApplicationContext context) {
        this.context = context;
    }

    /**
     * Asks these mappings.
     *
     * @param logins whether Spring Security is present
     */
    public static Routes of(ApplicationContext context, List<HandlerMapping> mappings, boolean logins) {
        RouteSurvey survey = new RouteSurvey(context);
        mappings.forEach(survey::add);
        return new Routes(
                survey.routes,
                pattern -> survey.files.stream().anyMatch(handler -> survey.mayMatch(handler, pattern)),
                survey.anything,
                logins);
    }

    private void add(HandlerMapping mapping) {
        if (Endpoints.isUnused(mapping)) {
            return;
        }
        if (mapping instanceof RequestMappingInfoHandlerMapping controllers) {
            controllers.getHandlerMethods().keySet().forEach(info -> {
                Set<String> methods = info.getMethodsCondition().getMethods().stream()
                        .map(method -> Endpoint.methodOf(method.name()))
                        .collect(Collectors.toSet());
                info.getPatternsCondition()
                        .getPatterns()
                        .forEach(pattern -> routes.add(new Route(methods, pattern.getPatternString())));
            });
        } else if (mapping instanceof RouterFunctionMapping functional) {
            if (functional.getRouterFunction() != null) {
                FunctionalRoutes.addTo(routes, functional.getRouterFunction());
            }
        } else if (mapping instanceof AbstractUrlHandlerMapping urls) {
            urls.getHandlerMap().forEach(this::add);
        } else {
            anything = true;
        }
    }

    private void add(PathPattern pattern, Object handler) {
        if (pattern.getPatternString().equals(FunctionVisitor.EVERY_PATH)
                && handler instanceof ResourceWebHandler all) {
            files.add(all);
        } else {
            routes.add(new Route(
                    handler instanceof ResourceWebHandler ? Set.of("GET") : Set.of(), pattern.getPatternString()));
        }
    }

    /** Whether the handler, which serves all paths, may have a file with a path that the pattern matches. */
    private boolean mayMatch(ResourceWebHandler handler, String pattern) {
        String below = pattern.substring(1).replaceAll("\\{\\*[^}]*}", "**").replaceAll("\\{[^/]*}", "*");
        return handler.getResourceResolvers().stream().anyMatch(resolver -> !BY_NAME.contains(resolver.getClass()))
                || handler.getLocations().stream()
                        .anyMatch(location ->
                                mayHave(location, below) || mayHave(location, below.toLowerCase(Locale.ROOT)));
    }

    private boolean mayHave(Resource location, String below) {
        try {
            return !(location instanceof ClassPathResource classes)
                    || Stream.of(context.getResources("classpath*:" + classes.getPath() + below))
                            .anyMatch(Resource::isReadable);
        } catch (IOException e) {
            return !(e instanceof FileNotFoundException);
        }
    }
}

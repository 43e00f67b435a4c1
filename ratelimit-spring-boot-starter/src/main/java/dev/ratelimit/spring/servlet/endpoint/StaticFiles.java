package dev.ratelimit.spring.servlet.endpoint;

import jakarta.servlet.http.HttpServletRequest;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.ServletContextResource;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.resource.CachingResourceResolver;
import org.springframework.web.servlet.resource.EncodedResourceResolver;
import org.springframework.web.servlet.resource.PathResourceResolver;
import org.springframework.web.servlet.resource.ResourceHandlerUtils;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;
import org.springframework.web.servlet.resource.ResourceResolver;
import org.springframework.web.servlet.resource.ResourceResolverChain;
import org.springframework.web.util.UrlPathHelper;
import org.springframework.web.util.pattern.PathPattern;

/** Distinguishes static files from paths without a handler, as Spring MVC's handler of static files will. */
final class StaticFiles {

    /** Resolvers that find a file under its own name. */
    private static final List<Class<?>> BY_NAME =
            List.of(PathResourceResolver.class, CachingResourceResolver.class, EncodedResourceResolver.class);

    private StaticFiles() {}

    /** Whether the handler, which serves all paths, may have a file with a path that the pattern matches. */
    static boolean mayMatch(ResourceHttpRequestHandler files, String pattern, WebApplicationContext context) {
        String below = pattern.substring(1).replaceAll("\\{\\*[^}]*}", "**").replaceAll("\\{[^/]*}", "*");
        return files.getResourceResolvers().stream().anyMatch(resolver -> !BY_NAME.contains(resolver.getClass()))
                || files.getLocations().stream()
                        .anyMatch(location -> mayHave(location, below, context)
                                || mayHave(location, below.toLowerCase(Locale.ROOT), context));
    }

    private static boolean mayHave(Resource location, String below, WebApplicationContext context) {
        try {
            if (location instanceof ClassPathResource classes) {
                return exists(context.getResources("classpath*:" + classes.getPath() + below));
            }
            if (location instanceof ServletContextResource root) {
                return exists(context.getResources(root.getPath() + below));
            }
            return true;
        } catch (IOException e) {
            return !(e instanceof FileNotFoundException);
        }
    }

    private static boolean exists(Resource[] found) {
        return Stream.of(found).anyMatch(Resource::isReadable);
    }

    /** Whether the handler serves static files and has none for this path. */
    static boolean isMissing(HandlerMapping mapping, Object handler, HttpServletRequest request, PathContainer path) {
        return handler instanceof ResourceHttpRequestHandler files
                && mapping instanceof AbstractUrlHandlerMapping urls
                && !has(files, request, pathWithin(urls, files, path));
    }

    private static boolean has(ResourceHttpRequestHandler files, HttpServletRequest request, String path) {
        return !ResourceHandlerUtils.shouldIgnoreInputPath(path)
                && new Chain(files.getResourceResolvers()).resolveResource(request, path, files.getLocations()) != null;
    }

    /** The path relative to the most specific pattern that leads to the handler. */
    private static String pathWithin(
            AbstractUrlHandlerMapping urls, ResourceHttpRequestHandler files, PathContainer path) {
        PathPattern best = null;
        for (Map.Entry<PathPattern, Object> entry :
                urls.getPathPatternHandlerMap().entrySet()) {
            PathPattern pattern = entry.getKey();
            if (entry.getValue() == files
                    && pattern.matches(path)
                    && (best == null || PathPattern.SPECIFICITY_COMPARATOR.compare(pattern, best) < 0)) {
                best = pattern;
            }
        }
        PathContainer within = best == null ? path : best.extractPathWithinPattern(path);
        return ResourceHandlerUtils.normalizeInputPath(
                UrlPathHelper.defaultInstance.removeSemicolonContent(within.value()));
    }

    /** The remaining resolvers; each calls the next. */
    private record Chain(List<ResourceResolver> resolvers) implements ResourceResolverChain {

        @Override
        public @Nullable Resource resolveResource(
                @Nullable HttpServletRequest request, String path, List<? extends Resource> locations) {
            return resolvers.isEmpty() ? null : resolvers.get(0).resolveResource(request, path, locations, rest());
        }

        @Override
        public @Nullable String resolveUrlPath(String path, List<? extends Resource> locations) {
            return resolvers.isEmpty() ? null : resolvers.get(0).resolveUrlPath(path, locations, rest());
        }

        private Chain rest() {
            return new Chain(resolvers.subList(1, resolvers.size()));
        }
    }
}

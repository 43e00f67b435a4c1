package dev.ratelimit.spring.autoconfigure;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.resource.ResourceHandlerUtils;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;
import org.springframework.web.servlet.resource.ResourceResolver;
import org.springframework.web.servlet.resource.ResourceResolverChain;
import org.springframework.web.util.UrlPathHelper;
import org.springframework.web.util.pattern.PathPattern;

/** Distinguishes static files from paths without a handler, as Spring MVC's handler of static files will. */
final class StaticFiles {

    private StaticFiles() {}

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

package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.MappingMatch;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriUtils;

/** The paths of requests: as Spring MVC sees them, and as the server normalized them. Thread-safe. */
public final class ServletPaths {

    private final Dispatchers dispatchers;

    public ServletPaths(Dispatchers dispatchers) {
        this.dispatchers = dispatchers;
    }

    /** Whether Spring MVC handles the request. */
    boolean areOfSpringMvc(HttpServletRequest request) {
        return dispatchers.isForSpringMvc(request);
    }

    /** The path relative to the context path: as Spring MVC sees it or, for another servlet, as the server does. */
    public PathContainer pathOf(HttpServletRequest request) {
        if (dispatchers.isForSpringMvc(request)) {
            try {
                return ServletRequestPathUtils.parse(request).pathWithinApplication();
            } catch (IllegalArgumentException e) {
                // the servlet's path is not written as the server normalized it, which Spring does not accept
            }
        }
        return read(request);
    }

    /**
     * The path relative to the context path, as the client wrote it; {@code null} if Spring MVC sees only the part
     * below its servlet.
     */
    static @Nullable String writtenPathOf(HttpServletRequest request) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        if (mapping != null && mapping.getMappingMatch() == MappingMatch.PATH) {
            return null;
        }
        String written = request.getRequestURI();
        String context = request.getContextPath();
        return written.startsWith(context) ? written.substring(context.length()) : null;
    }

    /**
     * The normalized path, if the written one has empty or dot segments, and as an {@code AntPathMatcher} may read it: without
     * blanks around segments, either. Otherwise {@code null}.
     */
    @Nullable
    PathContainer normalizedPathOf(HttpServletRequest request) {
        String written = request.getRequestURI();
        boolean plain = !written.contains("//")
                && !written.contains("/.")
                && written.indexOf(';') < 0
                && written.indexOf('%') < 0;
        if (plain) {
            return null;
        }
        String path = normalized(request);
        String segments = String.join("/", StringUtils.tokenizeToStringArray(path, "/"));
        return parse(segments.isEmpty() ? "/" : "/" + segments + (path.endsWith("/") ? "/" : ""));
    }

    private PathContainer read(HttpServletRequest request) {
        return parse(normalized(request));
    }

    private static PathContainer parse(String path) {
        return PathContainer.parsePath(UriUtils.encodePath(path, StandardCharsets.UTF_8));
    }

    /** The path as the server normalized it, without that of Spring MVC's servlet. */
    private String normalized(HttpServletRequest request) {
        String info = Objects.requireNonNullElse(request.getPathInfo(), "");
        boolean below = !info.isEmpty() && dispatchers.isForSpringMvc(request);
        return below ? info : request.getServletPath() + info;
    }
}

package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.key.QueryString;
import dev.ratelimit.spring.rules.request.UncertainParameterException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.WebUtils;

/** A servlet request. Not thread-safe. */
public final class ServletWebRequest implements WebRequest {

    /** Tomcat 10.1 leaves out parameters that it cannot read, and says so here; other servers throw an exception. */
    private static final String UNREADABLE = "org.apache.catalina.parameter_parse_failed";

    private final HttpServletRequest request;
    private final ServletPaths paths;
    private @Nullable PathContainer path;

    /** Whether {@code normalizedPath}, which may be {@code null}, is known. */
    private boolean normalized;

    private @Nullable PathContainer normalizedPath;

    /** Whether {@code writtenPath}, which may be {@code null}, is known. */
    private boolean read;

    private @Nullable String writtenPath;
    private @Nullable RuntimeException failure;

    /** Why the parameters cannot be read: some servers say so only once, and then know some of them. */
    private @Nullable RuntimeException unreadable;

    public ServletWebRequest(HttpServletRequest request, ServletPaths paths) {
        this.request = request;
        this.paths = paths;
    }

    /** The request of the server. */
    public HttpServletRequest request() {
        return request;
    }

    /**
     * Records that reading the request has failed in a way that the application must see: some servers fail only once,
     * so the application would otherwise process a request that it ought to reject.
     */
    public void fail(RuntimeException exception) {
        failure = failure == null ? exception : failure;
    }

    /** Throws the recorded failure, if there is one. */
    public void rethrowFailure() {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String method() {
        return request.getMethod();
    }

    @Override
    public String url() {
        return request.getRequestURL().toString();
    }

    @Override
    public PathContainer path() {
        PathContainer known = path;
        if (known == null) {
            known = paths.pathOf(request);
            path = known;
        }
        return known;
    }

    @Override
    public @Nullable PathContainer normalizedPath() {
        if (!normalized) {
            normalizedPath = paths.normalizedPathOf(request);
            normalized = true;
        }
        return normalizedPath;
    }

    /**
     * The path relative to the context path, as the client wrote it; {@code null} if Spring MVC sees only the part below
     * its servlet.
     */
    public @Nullable String writtenPath() {
        if (!read) {
            writtenPath = ServletPaths.writtenPathOf(request);
            read = true;
        }
        return writtenPath;
    }

    @Override
    public @Nullable String query() {
        return request.getQueryString();
    }

    @Override
    public List<String> headers(String name) {
        Enumeration<String> lines = request.getHeaders(name);
        if (lines == null || !lines.hasMoreElements()) {
            return List.of();
        }
        String first = lines.nextElement();
        if (!lines.hasMoreElements()) {
            return List.of(first);
        }
        List<String> all = new ArrayList<>(List.of(first));
        lines.asIterator().forEachRemaining(all::add);
        return all;
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeader(name);
    }

    @Override
    public Collection<String> headerNames() {
        Enumeration<String> names = request.getHeaderNames();
        return names == null ? List.of() : Collections.list(names);
    }

    @Override
    public long contentLength() {
        return request.getContentLengthLong();
    }

    @Override
    public List<HttpCookie> cookies() {
        Cookie[] cookies = request.getCookies();
        if (cookies == null) {
            return List.of();
        }
        List<HttpCookie> all = new ArrayList<>(cookies.length);
        for (Cookie cookie : cookies) {
            all.add(new HttpCookie(cookie.getName(), cookie.getValue()));
        }
        return all;
    }

    @Override
    public List<String> parameters(String name) {
        String[] values = readBody(() -> KeptForm.values(request, name));
        if (values == null) {
            return List.of();
        }
        int inQuery = values.length == 1 ? 0 : QueryString.count(query(), name);
        if (inQuery > 0 && inQuery < values.length) {
            throw new UncertainParameterException("the parameter is in the query and in the body");
        }
        return valuesOf(values);
    }

    /** A field without a value is {@code null} where Spring's filter of forms has read a {@code PUT} or the like. */
    private static List<String> valuesOf(@Nullable String[] values) {
        return Stream.of(values).map(value -> value == null ? "" : value).toList();
    }

    @Override
    public Collection<String> parameterNames() {
        return readBody(() -> KeptForm.names(request));
    }

    private <T extends @Nullable Object> T readBody(Supplier<T> read) {
        if (unreadable != null) {
            throw unreadable;
        }
        if (paths.areOfSpringMvc(request)) {
            MultipartFields.read(request);
        }
        try {
            KeptForm.read(request);
            T value = read.get();
            if (request.getAttribute(UNREADABLE) != null) {
                throw new UnreadableParametersException();
            }
            return value;
        } catch (UncertainParameterException e) {
            throw e;
        } catch (RuntimeException e) {
            unreadable = e;
            fail(e);
            throw e;
        }
    }

    @Override
    public @Nullable Principal principal() {
        return request.getUserPrincipal();
    }

    @Override
    public boolean hasRole(String role) {
        return request.isUserInRole(role);
    }

    @Override
    public @Nullable String sessionId() {
        HttpSession session = request.getSession(false);
        return session == null ? null : session.getId();
    }

    @Override
    public @Nullable Object attribute(String name) {
        return request.getAttribute(name);
    }

    @Override
    public @Nullable String remoteAddress() {
        return request.getRemoteAddr();
    }

    @Override
    public @Nullable String route() {
        return GatewayRoute.of(request);
    }

    @Override
    public WebRequest received() {
        ServletRequest inner = request;
        while (inner instanceof ServletRequestWrapper wrapper) {
            inner = wrapper.getRequest();
        }
        return inner != request && inner instanceof HttpServletRequest http ? new ServletWebRequest(http, paths) : this;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return WebUtils.getNativeRequest(request, type);
    }
}

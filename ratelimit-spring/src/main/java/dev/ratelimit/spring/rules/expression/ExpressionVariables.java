package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.request.UncertainParameterException;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;

/** The variables of expressions besides parameters, and their types, whose methods expressions can call. */
public final class ExpressionVariables {

    public static final Map<String, Class<?>> TYPES =
            Map.of("request", Request.class, "principal", Principal.class, "ip", String.class);

    private ExpressionVariables() {}

    /** The value of a variable; {@code null} if it has none or does not exist. */
    static @Nullable Object valueOf(String name, RequestContext context) {
        return switch (name) {
            case "request" -> new Request(context);
            case "principal" -> context.request().principal();
            case "ip" -> context.addressText();
            default -> context.argument(name);
        };
    }

    /**
     * {@code #request}, on every web stack: a read-only view of the request with the names and meanings of the Servlet
     * API. Public, because code that SpEL compiles calls it.
     */
    public static final class Request {

        private final WebRequest request;
        private final RequestContext context;

        Request(RequestContext context) {
            this.request = context.request();
            this.context = context;
        }

        /** The method. */
        @ReadsFact(Fact.METHOD)
        public String getMethod() {
            return request.method();
        }

        /** The URL without the query, as the client has sent it. */
        @ReadsFact(Fact.URL)
        public String getRequestURL() {
            return context.url();
        }

        /** The path including the context path, not decoded. */
        @ReadsFact(Fact.URL)
        public String getRequestURI() {
            int path = context.url().indexOf('/', hostStart());
            return path < 0 ? "" : context.url().substring(path);
        }

        /** The scheme, such as {@code https}. */
        @ReadsFact(Fact.URL)
        public String getScheme() {
            return context.url().substring(0, Math.max(0, context.url().indexOf(':')));
        }

        /** Whether the connection is encrypted. */
        @ReadsFact(Fact.URL)
        public boolean isSecure() {
            return getScheme().equals("https");
        }

        /** The host in the request, without the port. */
        @ReadsFact(Fact.URL)
        public String getServerName() {
            String url = context.url();
            int from = hostStart();
            int to = url.startsWith("[", from) ? url.indexOf(']', from) + 1 : from;
            while (to < url.length() && url.charAt(to) != ':' && url.charAt(to) != '/') {
                to++;
            }
            return url.substring(from, to);
        }

        private int hostStart() {
            int scheme = context.url().indexOf("://");
            return scheme < 0 ? 0 : scheme + 3;
        }

        /** The query, not decoded, or {@code null} if there is none. */
        @ReadsFact(Fact.QUERY)
        public @Nullable String getQueryString() {
            return request.query();
        }

        /** The first line of a header, or {@code null}. */
        @ReadsFact(Fact.HEADER)
        public @Nullable String getHeader(String name) {
            return request.header(name);
        }

        /** All lines of a header. */
        @ReadsFact(Fact.HEADER)
        public Enumeration<String> getHeaders(String name) {
            return Collections.enumeration(request.headers(name));
        }

        /** The names of all headers. */
        @ReadsFact(Fact.HEADER)
        public Enumeration<String> getHeaderNames() {
            return Collections.enumeration(request.headerNames());
        }

        /** The number in a header; -1 if there is none. */
        @ReadsFact(Fact.HEADER)
        public int getIntHeader(String name) {
            String value = request.header(name);
            return value == null ? -1 : Integer.parseInt(value);
        }

        /** The media type of the body, or {@code null}. */
        @ReadsFact(value = Fact.HEADER, name = "content-type")
        public @Nullable String getContentType() {
            return request.header(HttpHeaders.CONTENT_TYPE);
        }

        /** The length of the body; -1 if unknown or larger than an {@code int}. */
        @ReadsFact(value = Fact.HEADER, name = "content-length")
        public int getContentLength() {
            long length = request.contentLength();
            return length > Integer.MAX_VALUE ? -1 : (int) length;
        }

        /** The length of the body; -1 if unknown. */
        @ReadsFact(value = Fact.HEADER, name = "content-length")
        public long getContentLengthLong() {
            return request.contentLength();
        }

        /** All cookies; each has {@code name} and {@code value}. */
        @ReadsFact(Fact.COOKIE)
        public List<HttpCookie> getCookies() {
            return request.cookies();
        }

        /**
         * The only value of a parameter of the query or a form, or {@code null}.
         *
         * @throws UncertainParameterException if it has several: handlers take the first, the last, or all
         */
        @ReadsFact(Fact.PARAMETER)
        public @Nullable String getParameter(String name) {
            List<String> values = request.parameters(name);
            if (values.size() > 1) {
                throw new UncertainParameterException("the parameter has several values");
            }
            return values.isEmpty() ? null : values.get(0);
        }

        /** All values of a parameter, or {@code null}. */
        @ReadsFact(Fact.PARAMETER)
        public String @Nullable [] getParameterValues(String name) {
            List<String> values = request.parameters(name);
            return values.isEmpty() ? null : values.toArray(String[]::new);
        }

        /** The names of all parameters. */
        @ReadsFact(Fact.PARAMETER)
        public Enumeration<String> getParameterNames() {
            return Collections.enumeration(request.parameterNames());
        }

        /** All parameters. */
        @ReadsFact(Fact.PARAMETER)
        public Map<String, String[]> getParameterMap() {
            Map<String, String[]> parameters = new LinkedHashMap<>();
            Collection<String> names = new ArrayList<>(request.parameterNames());
            names.forEach(name -> parameters.put(name, request.parameters(name).toArray(String[]::new)));
            return parameters;
        }

        /** The authenticated principal, or {@code null}. */
        @ReadsFact(Fact.PRINCIPAL)
        public @Nullable Principal getUserPrincipal() {
            return request.principal();
        }

        /** The name of the authenticated principal, or {@code null}. */
        @ReadsFact(Fact.USER)
        public @Nullable String getRemoteUser() {
            Principal principal = request.principal();
            return principal == null ? null : principal.getName();
        }

        /** Whether the authenticated principal has this role. */
        @ReadsFact(Fact.PRINCIPAL)
        public boolean isUserInRole(String role) {
            return request.hasRole(role);
        }

        /** The existing session, or {@code null}; none is created. */
        @ReadsFact(Fact.SESSION)
        public @Nullable Session getSession() {
            String id = request.sessionId();
            return id == null ? null : new Session(id);
        }

        /** The address of the peer, or the one that a filter replaced it with. The client's address is {@code #ip}. */
        @ReadsFact(Fact.ADDRESS)
        public @Nullable String getRemoteAddr() {
            return request.remoteAddress();
        }

        /** The request attribute of this name, or {@code null}. */
        @ReadsFact(Fact.ATTRIBUTE)
        public @Nullable Object getAttribute(String name) {
            return request.attribute(name);
        }
    }

    /** A session, of which only the id is available. */
    public static final class Session {

        private final String id;

        Session(String id) {
            this.id = id;
        }

        /** The id. */
        public String getId() {
            return id;
        }
    }
}

package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.ClientAddress;
import dev.ratelimit.spring.rules.address.ForwardedHeader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** A request without a web stack, as a line of a log may describe it. */
public class RecordedRequest implements WebRequest {

    private final String method;
    private final String path;
    private final Map<String, List<String>> headers = new LinkedHashMap<>();
    private final List<HttpCookie> cookies = new ArrayList<>();
    private final Map<String, Object> attributes = new HashMap<>();
    private @Nullable String query;
    private @Nullable Principal principal;
    private @Nullable String sessionId;
    private @Nullable String route;
    private final Map<String, @Nullable String> resolved = new HashMap<>();
    private String remoteAddress = "127.0.0.1";
    private WebRequest received = this;

    public RecordedRequest() {
        this("GET", "/");
    }

    public RecordedRequest(String method, String path) {
        this.method = method;
        this.path = path;
    }

    public RecordedRequest from(String address) {
        remoteAddress = address;
        return this;
    }

    /** A request that a filter created from another. */
    public RecordedRequest wrapping(WebRequest other) {
        received = other;
        return this;
    }

    public RecordedRequest with(String header, String line) {
        headers.computeIfAbsent(header.toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                .add(line);
        return this;
    }

    public RecordedRequest withCookie(String name, String value) {
        cookies.add(new HttpCookie(name, value));
        return this;
    }

    public RecordedRequest withQuery(@Nullable String text) {
        query = text;
        return this;
    }

    public RecordedRequest withAttribute(String name, Object value) {
        attributes.put(name, value);
        return this;
    }

    public RecordedRequest by(String user) {
        return by(() -> user);
    }

    public RecordedRequest by(Principal user) {
        principal = user;
        return this;
    }

    /** With the value of a resolver that was asked before. */
    public RecordedRequest resolved(String bean, @Nullable String value) {
        resolved.put(bean, value);
        return this;
    }

    public RecordedRequest onRoute(String id) {
        route = id;
        return this;
    }

    public RecordedRequest inSession(String id) {
        sessionId = id;
        return this;
    }

    /** The request as rules see it, behind these proxies, with the endpoint {@code GET /orders/{id}}. */
    public static RequestContext context(WebRequest request, boolean ignoreCase, String... proxies) {
        Endpoint endpoint = Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/orders/{id}"));
        return new RequestContext(request, sources(endpoint, ignoreCase, proxies));
    }

    /** Sources that lead all requests to one endpoint. */
    public static RequestContext.Sources sources(Endpoint endpoint, boolean ignoreCase, String... proxies) {
        List<AddressRange> trusted = Stream.of(proxies).map(AddressRange::parse).toList();
        return new RequestContext.Sources(
                new ClientAddress(trusted, ForwardedHeader.ANY),
                leadingTo(endpoint),
                () -> new KeyEncoder(ignoreCase, 32, 64));
    }

    /** Leads all requests to one endpoint. */
    public static EndpointResolver leadingTo(Endpoint endpoint) {
        return new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest asked) {
                return endpoint;
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return false;
            }
        };
    }

    @Override
    public String method() {
        return method;
    }

    @Override
    public String url() {
        return "https://api.example.org:8443/app" + path;
    }

    @Override
    public PathContainer path() {
        return PathContainer.parsePath(path);
    }

    @Override
    public @Nullable String query() {
        return query;
    }

    @Override
    public List<String> headers(String name) {
        return headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }

    @Override
    public Collection<String> headerNames() {
        return headers.keySet();
    }

    @Override
    public long contentLength() {
        return Long.parseLong(Objects.requireNonNullElse(header("Content-Length"), "-1"));
    }

    @Override
    public List<HttpCookie> cookies() {
        return cookies;
    }

    @Override
    public List<String> parameters(String name) {
        return pairs().filter(pair -> pair[0].equals(name)).map(pair -> pair[1]).toList();
    }

    @Override
    public Collection<String> parameterNames() {
        return pairs().map(pair -> pair[0]).distinct().toList();
    }

    private Stream<String[]> pairs() {
        return query == null
                ? Stream.of()
                : Stream.of(query.split("&", -1))
                        .map(pair -> URLDecoder.decode(pair, StandardCharsets.UTF_8))
                        .map(pair -> pair.split("=", 2))
                        .filter(pair -> pair.length == 2);
    }

    @Override
    public @Nullable Principal principal() {
        return principal;
    }

    @Override
    public boolean hasRole(String role) {
        return role.equals("USER") && principal != null;
    }

    @Override
    public Map<String, @Nullable String> resolved() {
        return resolved;
    }

    @Override
    public @Nullable String route() {
        return route;
    }

    @Override
    public @Nullable String sessionId() {
        return sessionId;
    }

    @Override
    public @Nullable Object attribute(String name) {
        return attributes.get(name);
    }

    @Override
    public @Nullable String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public WebRequest received() {
        return received;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return type.isInstance(this) ? type.cast(this) : null;
    }
}

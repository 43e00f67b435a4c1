package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.UncertainParameterException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.LinkedCaseInsensitiveMap;
import org.springframework.util.MultiValueMap;
import org.springframework.util.StringUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.UriUtils;

/** A request of WebFlux, with what has been fetched of it before. Not thread-safe. */
public final class ReactiveWebRequest implements WebRequest {

    private final ServerWebExchange exchange;
    private final ServerHttpRequest request;
    private final FetchedFacts facts;

    /** Where the request leads; {@code null} if it has not been found out. */
    private final @Nullable Endpoint endpoint;

    /** Whether only the dispatcher, later, tells whether it leads there. */
    private final boolean guessed;

    /** Why its body is lost; {@code null} if it is not. */
    private final @Nullable RuntimeException failure;

    /** Whether {@code normalizedPath}, which may be {@code null}, is known. */
    private boolean normalized;

    private @Nullable PathContainer normalizedPath;

    private ReactiveWebRequest(
            ServerWebExchange exchange,
            ServerHttpRequest request,
            FetchedFacts facts,
            @Nullable Endpoint endpoint,
            boolean guessed,
            @Nullable RuntimeException failure) {
        this.exchange = exchange;
        this.request = request;
        this.facts = facts;
        this.endpoint = endpoint;
        this.guessed = guessed;
        this.failure = failure;
    }

    /** The request of an exchange, of which nothing has been fetched. */
    public static ReactiveWebRequest of(ServerWebExchange exchange) {
        return new ReactiveWebRequest(exchange, exchange.getRequest(), FetchedFacts.NONE, null, false, null);
    }

    /** The same request with these facts. */
    ReactiveWebRequest with(FetchedFacts fetched) {
        return new ReactiveWebRequest(exchange, request, fetched, endpoint, guessed, failure);
    }

    /** The same request with its endpoint. */
    public ReactiveWebRequest leadingTo(@Nullable Endpoint found) {
        return new ReactiveWebRequest(exchange, request, facts, found, false, failure);
    }

    /** The same request with what is perhaps its endpoint, which the dispatcher finds out later. */
    public ReactiveWebRequest perhapsLeadingTo(Endpoint guess) {
        return new ReactiveWebRequest(exchange, request, facts, guess, true, failure);
    }

    /** Whether its endpoint is not certain yet. */
    public boolean isGuessed() {
        return guessed;
    }

    /** The same request in an exchange that filters have put around it since. */
    public ReactiveWebRequest at(ServerWebExchange later) {
        return new ReactiveWebRequest(later, later.getRequest(), facts, endpoint, guessed, failure);
    }

    /** The same request, whose body is lost. */
    ReactiveWebRequest without(RuntimeException lost) {
        return new ReactiveWebRequest(exchange, request, facts, endpoint, guessed, lost);
    }

    public ServerWebExchange exchange() {
        return exchange;
    }

    /** Where the request leads; {@code null} if it has not been found out. */
    public @Nullable Endpoint endpoint() {
        return endpoint;
    }

    /** Why the body is lost, so that the request cannot go on; {@code null} if it is not. */
    public @Nullable RuntimeException failure() {
        return failure;
    }

    @Override
    public String method() {
        return request.getMethod().name();
    }

    @Override
    public String url() {
        String all = request.getURI().toString();
        int query = all.indexOf('?');
        return query < 0 ? all : all.substring(0, query);
    }

    @Override
    public PathContainer path() {
        return request.getPath().pathWithinApplication();
    }

    /** The path as the handler of static files reads it, if it is written otherwise. */
    @Override
    public @Nullable PathContainer normalizedPath() {
        if (!normalized) {
            String written = path().value();
            boolean plain = !written.contains("//") && !written.contains("/.") && written.indexOf('%') < 0;
            normalizedPath = plain ? null : read(written);
            normalized = true;
        }
        return normalizedPath;
    }

    /** Slashes may be encoded, doubled or backslashes to it, and dots are resolved. */
    private static @Nullable PathContainer read(String written) {
        try {
            String decoded = UriUtils.decode(written, StandardCharsets.UTF_8);
            String clean = StringUtils.cleanPath(decoded.replace('\\', '/').replaceAll("/{2,}", "/"));
            return PathContainer.parsePath(UriUtils.encodePath(clean, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException unreadable) {
            return null;
        }
    }

    @Override
    public @Nullable String query() {
        return request.getURI().getRawQuery();
    }

    @Override
    public List<String> headers(String name) {
        return request.getHeaders().getOrEmpty(name);
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeaders().getFirst(name);
    }

    @Override
    public Collection<String> headerNames() {
        Set<String> names = Collections.newSetFromMap(new LinkedCaseInsensitiveMap<>());
        request.getHeaders().forEach((name, values) -> names.add(name));
        return names;
    }

    @Override
    public long contentLength() {
        return request.getHeaders().getContentLength();
    }

    @Override
    public List<HttpCookie> cookies() {
        return request.getCookies().values().stream().flatMap(List::stream).toList();
    }

    @Override
    public List<String> parameters(String name) {
        List<String> inQuery = valuesOf(request.getQueryParams().getOrDefault(name, List.of()));
        List<String> inForm = form().getOrDefault(name, List.of());
        if (!inQuery.isEmpty() && !inForm.isEmpty()) {
            throw new UncertainParameterException("the parameter is in the query and in the form");
        }
        return inForm.isEmpty() ? inQuery : valuesOf(inForm);
    }

    /** A parameter without a value is {@code null} in WebFlux. */
    private static List<String> valuesOf(List<@Nullable String> values) {
        return values.stream().map(value -> value == null ? "" : value).toList();
    }

    @Override
    public Collection<String> parameterNames() {
        Set<String> all = new LinkedHashSet<>(request.getQueryParams().keySet());
        all.addAll(form().keySet());
        return all;
    }

    private MultiValueMap<String, String> form() {
        MultiValueMap<String, String> form = facts.form();
        if (form == null) {
            throw new UncertainParameterException("the form has not been read");
        }
        return form;
    }

    @Override
    public @Nullable Principal principal() {
        return facts.principal();
    }

    @Override
    public boolean hasRole(String role) {
        return facts.principal() != null && Callers.hasRole(facts.principal(), role);
    }

    @Override
    public @Nullable String sessionId() {
        return facts.sessionId();
    }

    @Override
    public @Nullable Object attribute(String name) {
        return exchange.getAttribute(name);
    }

    @Override
    public @Nullable String remoteAddress() {
        InetSocketAddress peer = request.getRemoteAddress();
        if (peer == null) {
            return null;
        }
        return peer.getAddress() == null
                ? peer.getHostString()
                : peer.getAddress().getHostAddress();
    }

    @Override
    public @Nullable String route() {
        return GatewayRoute.of(exchange);
    }

    @Override
    public Map<String, @Nullable String> resolved() {
        return facts.resolved();
    }

    @Override
    public WebRequest received() {
        ServerHttpRequest original = ReceivedRequests.of(exchange);
        return original == null ? this : new ReactiveWebRequest(exchange, original, facts, endpoint, guessed, failure);
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        if (type.isInstance(exchange)) {
            return type.cast(exchange);
        }
        return type.isInstance(request) ? type.cast(request) : null;
    }
}

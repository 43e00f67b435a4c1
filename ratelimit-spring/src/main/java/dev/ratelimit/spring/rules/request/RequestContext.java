package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.ClientAddress;
import dev.ratelimit.spring.rules.address.IpAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/**
 * A request as rules see it at one stage. Expensive values are computed once, on first use, and shared with later
 * stages. Not thread-safe.
 */
public final class RequestContext {

    /**
     * What all requests have in common.
     *
     * @param addresses finds the addresses of clients
     * @param endpoints finds the endpoints of requests
     * @param keys creates an encoder for the keys of one request
     */
    public record Sources(ClientAddress addresses, EndpointResolver endpoints, Supplier<KeyEncoder> keys) {}

    private static final @Nullable Object[] NO_ARGUMENTS = {};

    private final WebRequest request;

    /** The request at its first stage, whose path counts at all stages. */
    private final WebRequest first;

    private final Sources sources;

    private @Nullable KeyEncoder key;

    /** Whether the client's address has been looked up; {@code address} is {@code null} if it is not an IP address. */
    private boolean looked;

    private @Nullable IpAddress address;
    private @Nullable Endpoint endpoint;

    /** Whether the endpoint is only a guess, as far as that was asked. */
    private boolean guess;

    /** Whether it was at an earlier stage. */
    private boolean afterGuess;

    private @Nullable Map<String, String> pathVariables;

    /** Of whom the request has been asked, at this stage. */
    private @Nullable Map<Object, Optional<String>> answers;

    /** Of the called method, and what it was called with. */
    private Parameters parameters = Parameters.NONE;

    private @Nullable Object[] arguments = NO_ARGUMENTS;

    public RequestContext(WebRequest request, Sources sources) {
        this.request = request;
        this.first = request;
        this.sources = sources;
    }

    private RequestContext(WebRequest request, RequestContext before) {
        this.request = request;
        this.first = before.first;
        this.sources = before.sources;
        this.key = before.key;
        this.address = before.address;
        this.looked = before.looked;
        this.afterGuess = before.afterGuess || before.guess;
        if (!before.guess) {
            this.endpoint = before.endpoint;
            this.pathVariables = before.pathVariables;
        }
    }

    /**
     * The same request at a later stage, where the user is known. Path, address and endpoint remain the same, but for an
     * endpoint that was a guess.
     */
    public RequestContext at(WebRequest later) {
        return new RequestContext(later, this);
    }

    /** Makes the arguments of a method available. */
    public void call(Parameters called, @Nullable Object[] with) {
        parameters = called;
        arguments = with;
    }

    /** Makes a method the endpoint. */
    public void enter(Endpoint method) {
        endpoint = method;
    }

    /** The value of the called method's parameter; {@code null} if there is none. */
    public @Nullable Object argument(String name) {
        return parameters.valueOf(name, arguments);
    }

    /**
     * What somebody answers of this request at this stage, who is asked once.
     *
     * @param asked by its equality
     */
    public @Nullable String answerOf(Object asked, Supplier<@Nullable String> answer) {
        Map<Object, Optional<String>> known = answers;
        if (known == null) {
            known = new HashMap<>();
            answers = known;
        }
        Optional<String> one = known.get(asked);
        if (one == null) {
            one = Optional.ofNullable(answer.get());
            known.put(asked, one);
        }
        return one.orElse(null);
    }

    /** The request. */
    public WebRequest request() {
        return request;
    }

    /** The URL without the query. */
    public String url() {
        return first.url();
    }

    /** The parsed path relative to the application's context path. */
    public PathContainer path() {
        return first.path();
    }

    /** The path as the server normalized it, which may differ. */
    public @Nullable PathContainer normalizedPath() {
        return first.normalizedPath();
    }

    /** The path without the suffix of its last segment, if the application takes that for nothing; otherwise {@code null}. */
    public @Nullable PathContainer pathWithoutSuffix() {
        if (!sources.endpoints().ignoresSuffixes()) {
            return null;
        }
        PathContainer read = normalizedPath();
        String path = (read == null ? path() : read).value();
        int dot = path.lastIndexOf('.');
        return dot > path.lastIndexOf('/') ? PathContainer.parsePath(path.substring(0, dot)) : null;
    }

    /** The endpoint of the request. */
    public Endpoint endpoint() {
        Endpoint known = endpoint;
        if (known == null) {
            known = sources.endpoints().resolve(request);
            endpoint = known;
        }
        return known;
    }

    /** Whether the endpoint is only a guess, so that what depends on it has to wait for a later stage. */
    public boolean isGuess() {
        guess = sources.endpoints().isGuess(request);
        return guess;
    }

    /** Whether this is the stage that knows an endpoint at which earlier ones could only guess. */
    public boolean isAfterGuess() {
        return afterGuess && !isGuess();
    }

    /** The endpoint, if it was looked up already; otherwise {@code null}. Does not look it up. */
    public @Nullable Endpoint knownEndpoint() {
        return endpoint != null ? endpoint : sources.endpoints().known(request);
    }

    /** Whether it may lead to an endpoint with annotations. Does not look up the endpoint. */
    public boolean mayLeadToAnnotated() {
        return sources.endpoints().mayLeadToAnnotated(first);
    }

    /** Whether it leads to a management endpoint. */
    public boolean leadsToManagement() {
        return sources.endpoints().mayLeadToManagement(first) && endpoint().isManagement();
    }

    /** The value of a variable in the endpoint's path, or {@code null}. */
    public @Nullable String pathVariable(String name) {
        Map<String, String> known = pathVariables;
        if (known == null) {
            Endpoint leading = endpoint();
            known = sources.endpoints().variables(request);
            if (known == null) {
                known = leading.variables(path());
            }
            pathVariables = known;
        }
        return known.get(name);
    }

    /** The client's address; {@code null} if it is not an IP address. */
    public @Nullable IpAddress address() {
        if (!looked) {
            looked = true;
            IpAddress found = new IpAddress();
            address = sources.addresses().find(request, found) ? found : null;
        }
        return address;
    }

    /** Whether the address is a trusted proxy's. Any client can cause that, so it must not grant a privilege. */
    public boolean hasProxyAddress() {
        IpAddress found = address();
        return found != null && sources.addresses().isProxy(found);
    }

    /** The client's address in full, as text. */
    public String addressText() {
        IpAddress found = address();
        return found == null ? String.valueOf(request.received().remoteAddress()) : found.toString();
    }

    /** Appends the client's address to a key. */
    public void appendAddress(KeyEncoder to) {
        IpAddress found = address();
        if (found == null) {
            to.appendOpaqueAddress(request.received().remoteAddress());
        } else {
            to.append(found);
        }
    }

    /** Returns the encoder for a new key. Starting a key ends the one before. */
    public KeyEncoder newKey() {
        if (key == null) {
            key = sources.keys().get();
        }
        key.clear();
        return key;
    }
}

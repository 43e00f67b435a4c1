package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/**
 * A request as rules see it. What takes work to find out is found out once, when it is first asked for. Not thread-safe.
 */
public final class Call {

    private final PathContainer path;
    private final @Nullable PathContainer readPath;
    private final ClientAddress clientAddress;
    private final Supplier<KeyEncoder> keys;
    private final IpAddress address = new IpAddress();
    private @Nullable KeyEncoder key;
    private HttpServletRequest request;
    private @Nullable RuntimeException failure;
    private boolean looked;
    private boolean hasAddress;
    private String endpoint = "";
    private Map<String, String> pathVariables = Map.of();

    /**
     * A call.
     *
     * @param path the request's path as Spring MVC sees it, below the context path
     * @param readPath the same without empty and dot segments, as the server has read it; {@code null} where that is no other
     * @param clientAddress finds its address
     * @param keys writes its keys
     */
    public Call(
            HttpServletRequest request,
            PathContainer path,
            @Nullable PathContainer readPath,
            ClientAddress clientAddress,
            Supplier<KeyEncoder> keys) {
        this.request = request;
        this.path = path;
        this.readPath = readPath;
        this.clientAddress = clientAddress;
        this.keys = keys;
    }

    /** The same call, further down the chain: filters may have wrapped the request, and know the user by now. */
    public void proceed(HttpServletRequest wrapped) {
        request = wrapped;
    }

    /** Where it leads: the endpoint's name, and the values of the variables in its path. */
    public void leadsTo(String name, Map<String, String> variables) {
        endpoint = name;
        pathVariables = variables;
    }

    /**
     * Reading the request has failed in a way that the application has to see: some servers fail only once, so that it
     * would go on with a request that it ought to reject.
     */
    public void fail(RuntimeException exception) {
        failure = failure == null ? exception : failure;
    }

    /** What the application has to see, if anything. */
    public void throwFailure() {
        if (failure != null) {
            throw failure;
        }
    }

    /** The request. */
    public HttpServletRequest request() {
        return request;
    }

    /** The path below the context path, in parts. */
    public PathContainer path() {
        return path;
    }

    /** The path as the server has read it, where that may be another. */
    @Nullable
    PathContainer readPath() {
        return readPath;
    }

    /** The endpoint's name; empty while nobody needs it. */
    public String endpoint() {
        return endpoint;
    }

    /** The value of a variable in the endpoint's path, or {@code null}. */
    public @Nullable String pathVariable(String name) {
        return pathVariables.get(name);
    }

    /** The client's address, or {@code null} where it has none of IP. */
    public @Nullable IpAddress address() {
        if (!looked) {
            looked = true;
            hasAddress = clientAddress.find(request, address);
        }
        return hasAddress ? address : null;
    }

    /** The client's address in full, as text. */
    public String addressText() {
        IpAddress found = address();
        return found == null ? String.valueOf(request.getRemoteAddr()) : found.toString();
    }

    /** Adds the client's address to a key. */
    public void appendAddress(KeyEncoder to) {
        IpAddress found = address();
        if (found == null) {
            to.appendPeer(request.getRemoteAddr());
        } else {
            to.append(found);
        }
    }

    /** Writes keys; each that is begun ends the one before. */
    KeyEncoder newKey() {
        if (key == null) {
            key = keys.get();
        }
        key.clear();
        return key;
    }
}

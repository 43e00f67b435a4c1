package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A view of a request that keeps new attributes to itself, so that looking up a handler leaves no trace in the request.
 */
public final class AttributeKeepingRequest extends HttpServletRequestWrapper {

    private final Map<String, @Nullable Object> attributes = new HashMap<>();

    public AttributeKeepingRequest(HttpServletRequest request) {
        super(request);
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return attributes.containsKey(name) ? attributes.get(name) : super.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, @Nullable Object value) {
        attributes.put(name, value);
    }

    @Override
    public void removeAttribute(String name) {
        attributes.put(name, null);
    }
}

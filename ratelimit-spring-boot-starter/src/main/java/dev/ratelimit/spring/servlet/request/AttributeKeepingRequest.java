package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A view of a request to Spring MVC that keeps new attributes to itself, so that looking up a handler leaves no trace in
 * the request. Its parameters are those that Spring MVC will see. The body that is read here is {@linkplain KeptBody kept}.
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

    @Override
    public ServletInputStream getInputStream() throws IOException {
        return KeptBody.read((HttpServletRequest) getRequest());
    }

    @Override
    public BufferedReader getReader() throws IOException {
        return KeptForm.readerOf(this);
    }

    private void readBody() {
        HttpServletRequest request = (HttpServletRequest) getRequest();
        MultipartFields.read(request);
        KeptForm.read(request);
    }

    @Override
    public @Nullable String getParameter(String name) {
        readBody();
        return super.getParameter(name);
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        readBody();
        return super.getParameterValues(name);
    }

    @Override
    public Enumeration<String> getParameterNames() {
        readBody();
        return super.getParameterNames();
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        readBody();
        return super.getParameterMap();
    }
}

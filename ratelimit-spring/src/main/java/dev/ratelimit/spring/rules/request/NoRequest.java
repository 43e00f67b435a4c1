package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebRequest;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;

/**
 * Stands for the request of a call outside of requests: it has no values, so that keys treat them as missing.
 *
 * @param principal the caller; {@code null} if there is none
 */
public record NoRequest(@Nullable Principal principal) implements WebRequest {

    private static final PathContainer PATH = PathContainer.parsePath("");

    @Override
    public String method() {
        return "";
    }

    @Override
    public String url() {
        return "";
    }

    @Override
    public PathContainer path() {
        return PATH;
    }

    @Override
    public @Nullable String query() {
        return null;
    }

    @Override
    public List<String> headers(String name) {
        return List.of();
    }

    @Override
    public Collection<String> headerNames() {
        return List.of();
    }

    @Override
    public long contentLength() {
        return -1;
    }

    @Override
    public List<HttpCookie> cookies() {
        return List.of();
    }

    @Override
    public List<String> parameters(String name) {
        return List.of();
    }

    @Override
    public Collection<String> parameterNames() {
        return List.of();
    }

    @Override
    public boolean hasRole(String role) {
        return false;
    }

    @Override
    public @Nullable String sessionId() {
        return null;
    }

    @Override
    public @Nullable Object attribute(String name) {
        return null;
    }

    @Override
    public @Nullable String remoteAddress() {
        return null;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return null;
    }
}

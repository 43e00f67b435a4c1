package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.WebResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.WebUtils;

/** A servlet response. */
public final class ServletWebResponse implements WebResponse {

    private final HttpServletResponse response;

    public ServletWebResponse(HttpServletResponse response) {
        this.response = response;
    }

    @Override
    public void setStatus(int status) {
        response.setStatus(status);
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (value == null) {
            ResponseHeaders.remove(response, name);
        } else {
            response.setHeader(name, value);
        }
    }

    @Override
    public void write(String contentType, String body) throws IOException {
        write(contentType, body.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void write(String contentType, byte[] body) throws IOException {
        response.setContentType(contentType);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return WebUtils.getNativeResponse(response, type);
    }
}

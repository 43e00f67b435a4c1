package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.WebResponse;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.Charset;
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
        ServletOutputStream stream;
        try {
            stream = response.getOutputStream();
        } catch (IllegalStateException writerInUse) {
            writeText(new String(body, StandardCharsets.UTF_8));
            return;
        }
        response.setContentLength(body.length);
        stream.write(body);
    }

    /** Writes in the charset of a writer that a handler or another filter has used. */
    private void writeText(String text) throws IOException {
        response.setContentLength(text.getBytes(Charset.forName(response.getCharacterEncoding())).length);
        response.getWriter().write(text);
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return WebUtils.getNativeResponse(response, type);
    }
}

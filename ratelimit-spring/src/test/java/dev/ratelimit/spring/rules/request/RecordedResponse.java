package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebResponse;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A response without a web stack. */
public final class RecordedResponse implements WebResponse {

    private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private int status = 200;
    private String body = "";

    public int status() {
        return status;
    }

    public @Nullable String header(String name) {
        return headers.get(name);
    }

    public String body() {
        return body;
    }

    @Override
    public void setStatus(int newStatus) {
        status = newStatus;
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (value == null) {
            headers.remove(name);
        } else {
            headers.put(name, value);
        }
    }

    @Override
    public void write(String contentType, String text) {
        headers.put("Content-Type", contentType);
        body = text;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return type.isInstance(this) ? type.cast(this) : null;
    }
}

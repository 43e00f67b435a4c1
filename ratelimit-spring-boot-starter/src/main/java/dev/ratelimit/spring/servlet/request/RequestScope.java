package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Makes the request available by its thread to extensions of the application that rules call; Spring does so only
 * later.
 */
public final class RequestScope {

    /** Work for a request. */
    @FunctionalInterface
    public interface Work<T> {
        T run() throws IOException;
    }

    private RequestScope() {}

    public static <T> T within(HttpServletRequest request, HttpServletResponse response, Work<T> work)
            throws IOException {
        if (RequestContextHolder.getRequestAttributes() != null) {
            return work.run();
        }
        ServletRequestAttributes attributes = new ServletRequestAttributes(request, response);
        RequestContextHolder.setRequestAttributes(attributes);
        try {
            return work.run();
        } finally {
            RequestContextHolder.resetRequestAttributes();
            attributes.requestCompleted();
        }
    }
}

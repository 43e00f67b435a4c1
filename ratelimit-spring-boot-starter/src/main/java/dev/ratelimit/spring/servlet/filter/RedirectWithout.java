package dev.ratelimit.spring.servlet.filter;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.util.List;

/** A response that loses certain headers when it becomes a redirect. */
final class RedirectWithout extends HttpServletResponseWrapper {

    private final List<String> headers;

    RedirectWithout(List<String> headers, HttpServletResponse response) {
        super(response);
        this.headers = headers;
    }

    @Override
    public void setStatus(int status) {
        if (status >= HttpServletResponse.SC_MULTIPLE_CHOICES && status < HttpServletResponse.SC_BAD_REQUEST) {
            drop();
        }
        super.setStatus(status);
    }

    @Override
    public void sendRedirect(String location) throws IOException {
        drop();
        super.sendRedirect(location);
    }

    @Override
    public void sendRedirect(String location, boolean clearBuffer) throws IOException {
        drop();
        super.sendRedirect(location, clearBuffer);
    }

    @Override
    public void sendRedirect(String location, int status) throws IOException {
        drop();
        super.sendRedirect(location, status);
    }

    @Override
    public void sendRedirect(String location, int status, boolean clearBuffer) throws IOException {
        drop();
        super.sendRedirect(location, status, clearBuffer);
    }

    private void drop() {
        headers.forEach(name -> setHeader(name, null));
    }
}

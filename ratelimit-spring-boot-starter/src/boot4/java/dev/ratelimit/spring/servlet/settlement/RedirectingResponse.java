package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;

/** A response that sees its redirects, in all forms of Servlet 6.1. */
abstract class RedirectingResponse extends HttpServletResponseWrapper {

    RedirectingResponse(HttpServletResponse response) {
        super(response);
    }

    /** Sends a redirect. */
    abstract void redirect(WatchedResponse.Write send) throws IOException;

    @Override
    public void sendRedirect(String location) throws IOException {
        redirect(() -> super.sendRedirect(location));
    }

    @Override
    public void sendRedirect(String location, int status) throws IOException {
        redirect(() -> super.sendRedirect(location, status));
    }

    @Override
    public void sendRedirect(String location, boolean clear) throws IOException {
        redirect(() -> super.sendRedirect(location, clear));
    }

    @Override
    public void sendRedirect(String location, int status, boolean clear) throws IOException {
        redirect(() -> super.sendRedirect(location, status, clear));
    }
}

package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;

/** A response that sees its redirects, of which Servlet 6.0 has one form. */
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
}

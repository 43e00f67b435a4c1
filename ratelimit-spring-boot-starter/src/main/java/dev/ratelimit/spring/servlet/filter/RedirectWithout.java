package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.servlet.request.ResponseHeaders;
import dev.ratelimit.spring.servlet.settlement.WatchedResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;

/** Removes headers from a response that becomes a redirect. */
record RedirectWithout(List<String> headers, HttpServletResponse response) implements WatchedResponse.Watcher {

    @Override
    public void beforeStatus(int status) {
        if (status >= HttpServletResponse.SC_MULTIPLE_CHOICES && status < HttpServletResponse.SC_BAD_REQUEST) {
            beforeRedirect();
        }
    }

    @Override
    public void beforeRedirect() {
        headers.forEach(name -> ResponseHeaders.remove(response, name));
    }
}

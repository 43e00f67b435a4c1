package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Charges the policies that a functional route names, after the filters. A request is charged to each of them once, and
 * does not wait. Thread-safe.
 */
public final class RouteLimit {

    private final RequestLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;

    RouteLimit(RequestLimiter limiter, ServletPaths paths, CorsHeaders cors) {
        this.limiter = limiter;
        this.paths = paths;
        this.cors = cors;
    }

    /**
     * Charges a request; if it is admitted, the handler answers it.
     *
     * @throws Exception from the handler, or if the refusal cannot be written
     */
    public ServerResponse handle(ServerRequest request, HandlerFunction<ServerResponse> handler) throws Exception {
        HttpServletRequest asked = request.servletRequest();
        Passage passage = Passage.of(asked);
        ChargedRequest before = passage == null ? null : passage.charged();
        HttpServletResponse response = passage == null ? null : passage.answer();
        if (passage == null || before == null || response == null) {
            if (limiter.isFreePreflight(new ServletWebRequest(asked, paths))) {
                return handler.handle(request);
            }
            throw new IllegalStateException(
                    "a request to a route with limits has not passed the filter of rate limits");
        }
        if (before.isRefused()) {
            // a filter of the route tries again
            return ServerResponse.status(response.getStatus()).build((same, written) -> null);
        }
        ChargedRequest charged = limiter.charge(before, new ServletWebRequest(asked, paths));
        if (charged.isRefused()) {
            refuse(charged, asked, response);
            return ServerResponse.status(response.getStatus()).build((same, written) -> null);
        }
        admit(passage, charged, asked, response);
        return handler.handle(request);
    }

    private void refuse(ChargedRequest charged, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (!response.isCommitted()) {
            cors.write(request, response);
            charged.writeRefusal(new ServletWebResponse(response));
        }
    }

    private static void admit(
            Passage passage, ChargedRequest charged, HttpServletRequest request, HttpServletResponse response) {
        passage.cover(request, charged);
        if (!response.isCommitted()) {
            charged.writeHeaders(new ServletWebResponse(response));
        }
    }
}

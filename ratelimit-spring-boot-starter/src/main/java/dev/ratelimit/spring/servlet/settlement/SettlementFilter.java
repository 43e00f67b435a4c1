package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Observes how requests end, for policies that charge only some responses. The outermost filter, so that it sees how
 * other filters change a response; registered for requests, asynchronous dispatches and error pages.
 */
public final class SettlementFilter implements Filter {

    private final boolean errorPages;

    /**
     * Creates a filter.
     *
     * @param errorPages whether the server dispatches errors to a page; MockMvc does not
     */
    public SettlementFilter(boolean errorPages) {
        this.errorPages = errorPages;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest asked && response instanceof HttpServletResponse answer) {
            Settlement settlement = enter(asked, answer);
            if (settlement != null) {
                doFilter(settlement, asked, answer, chain);
                return;
            }
        }
        chain.doFilter(request, response);
    }

    private static @Nullable Settlement enter(HttpServletRequest request, HttpServletResponse response) {
        if (request.getDispatcherType() == DispatcherType.REQUEST) {
            return Settlement.begin(request, response);
        }
        Settlement settlement = Settlement.of(request);
        if (settlement != null && request.getDispatcherType() == DispatcherType.ERROR) {
            settlement.enterErrorPage(request);
        }
        return settlement;
    }

    private void doFilter(
            Settlement settlement, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean returned = false;
        try {
            chain.doFilter(request, WatchedResponse.watch(response, settlement));
            returned = true;
        } finally {
            if (returned) {
                settlement.leave(request, errorPages);
            } else {
                settlement.fail();
            }
        }
    }
}

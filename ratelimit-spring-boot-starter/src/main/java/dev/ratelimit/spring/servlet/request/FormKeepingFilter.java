package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;

/** Lets a form be read by the rate limits and again by others. The first of all filters, in each dispatch by the server. */
public final class FormKeepingFilter implements Filter {

    private final KeptForm.Limits limits;

    /**
     * Creates a filter.
     *
     * @param maxLength in bytes; larger forms are left to the server
     * @param maxFields a form with more is answered with 400 if a rule reads it; any number if negative
     */
    public FormKeepingFilter(int maxLength, int maxFields) {
        this.limits = new KeptForm.Limits(maxLength, maxFields);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        chain.doFilter(
                request instanceof HttpServletRequest http ? KeptForm.of(http, response, limits) : request, response);
    }
}

package dev.ratelimit.spring.servlet.request;

import dev.ratelimit.spring.boot.spi.Operator;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The caller of the servlet request that is bound to the current thread. */
public final class ServletOperator implements Operator {

    @Override
    public @Nullable String name() {
        ServletRequestAttributes current = current();
        if (current == null) {
            return null;
        }
        Principal principal = current.getRequest().getUserPrincipal();
        return principal == null ? ANONYMOUS : principal.getName();
    }

    @Override
    public boolean sentQuery() {
        ServletRequestAttributes current = current();
        return current != null && StringUtils.hasLength(current.getRequest().getQueryString());
    }

    @Override
    public void setHeader(String name, String value) {
        HttpServletResponse response = response();
        if (response != null) {
            response.setHeader(name, value);
        }
    }

    @Override
    public void addHeader(String name, String value) {
        HttpServletResponse response = response();
        if (response != null) {
            response.addHeader(name, value);
        }
    }

    private static @Nullable HttpServletResponse response() {
        ServletRequestAttributes current = current();
        return current == null ? null : current.getResponse();
    }

    private static @Nullable ServletRequestAttributes current() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current ? current : null;
    }
}

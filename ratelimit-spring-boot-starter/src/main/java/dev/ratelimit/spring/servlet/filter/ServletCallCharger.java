package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.boot.method.CallCharger;
import dev.ratelimit.spring.boot.method.CallTarget;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;

/** Charges calls to the current request's caller or, outside of requests, to that of the security context. Thread-safe. */
public final class ServletCallCharger implements CallCharger {

    private final CallLimiter limiter;
    private final ServletPaths paths;

    public ServletCallCharger(CallLimiter limiter, ServletPaths paths) {
        this.limiter = limiter;
        this.paths = paths;
    }

    @Override
    public CallLimiter.@Nullable Call call(CallTarget target, @Nullable Object[] arguments) {
        return limiter.call(target.type(), target.method(), arguments);
    }

    @Override
    public void charge(CallLimiter.Call call, CallTarget target) {
        ServletRequestAttributes current = current();
        if (current == null) {
            call.chargeOutside();
            return;
        }
        HttpServletRequest request = current.getRequest();
        ServletWebRequest web = new ServletWebRequest(request, paths);
        Passage passage = Passage.of(request);
        ChargedRequest charged = passage == null ? null : passage.charged();
        if (passage == null || charged == null || !charged.callFollows() || !isHandledBy(target, request)) {
            call.chargeWithin(web, charged);
            return;
        }
        call.chargeAsPartOf(charged, web);
        Reservation reservation = passage.cover(request, charged);
        if (reservation != null) {
            call.passOn(reservation);
        }
        HttpServletResponse response = current.getResponse();
        if (response != null && !response.isCommitted()) {
            charged.writeHeaders(new ServletWebResponse(response));
        }
    }

    /** The current request; {@code null} if there is none, or if it has ended before its thread. */
    private static @Nullable ServletRequestAttributes current() {
        if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current)) {
            return null;
        }
        try {
            current.getAttribute(ServletCallCharger.class.getName(), RequestAttributes.SCOPE_REQUEST);
            return current;
        } catch (IllegalStateException ended) {
            return null;
        }
    }

    private static boolean isHandledBy(CallTarget target, HttpServletRequest request) {
        return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && handler.getMethod().equals(target.method());
    }
}

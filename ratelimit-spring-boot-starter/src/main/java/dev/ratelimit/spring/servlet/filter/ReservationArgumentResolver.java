package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;

/**
 * Gives handlers a {@link Reservation} of the permits that the request was charged by policies whose permits do not count
 * requests. Without such a policy, because it does not apply or limits are off, the reservation has no charges.
 */
public final class ReservationArgumentResolver implements HandlerMethodArgumentResolver {

    private final RateLimitStore store;

    public ReservationArgumentResolver(RateLimitStore store) {
        this.store = store;
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == Reservation.class;
    }

    @Override
    public Reservation resolveArgument(
            MethodParameter parameter,
            @Nullable ModelAndViewContainer model,
            NativeWebRequest request,
            @Nullable WebDataBinderFactory binders) {
        Object reservation = request.getAttribute(Reservation.class.getName(), RequestAttributes.SCOPE_REQUEST);
        return Objects.requireNonNullElseGet((Reservation) reservation, this::nothing);
    }

    private Reservation nothing() {
        return Reservation.of(store, new Decision(true, List.of(), List.of(), null));
    }
}

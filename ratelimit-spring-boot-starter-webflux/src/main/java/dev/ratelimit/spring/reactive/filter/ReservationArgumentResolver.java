package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.core.MethodParameter;
import org.springframework.web.reactive.BindingContext;
import org.springframework.web.reactive.result.method.SyncHandlerMethodArgumentResolver;
import org.springframework.web.server.ServerWebExchange;

/**
 * Gives handlers a {@link Reservation} of the permits that the request was charged by policies whose permits do not count
 * requests. Without such a policy, because it does not apply or limits are off, the reservation has no charges.
 */
public final class ReservationArgumentResolver implements SyncHandlerMethodArgumentResolver {

    private final Supplier<RateLimitStore> store;

    public ReservationArgumentResolver(Supplier<RateLimitStore> store) {
        this.store = store;
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == Reservation.class;
    }

    @Override
    public Reservation resolveArgumentValue(
            MethodParameter parameter, BindingContext context, ServerWebExchange exchange) {
        Reservation reservation = exchange.getAttribute(Reservation.class.getName());
        return Objects.requireNonNullElseGet(reservation, this::nothing);
    }

    private Reservation nothing() {
        return Reservation.of(store.get(), new Decision(true, List.of(), List.of(), null));
    }
}

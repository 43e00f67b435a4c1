package dev.ratelimit.spring.boot.spi;

import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.web.method.HandlerMethod;

/** What the rules need to know of the web stack and of the application on it, at the start. */
public interface WebStack {

    /**
     * Finds the endpoints of the application, when all handlers are known.
     *
     * @param annotations reads the annotations of a handler; returns whether they concern its endpoint
     */
    EndpointResolver findEndpoints(BiPredicate<Endpoint, HandlerMethod> annotations);

    /** Whether Spring Security runs between two stages. */
    boolean hasStages();

    /** What all paths of the application begin with; empty for nothing. The paths of rules are relative to it. */
    String contextPath();

    /** What the paths of handlers begin with below it; empty for nothing. The paths of rules are relative to this, too. */
    String handlerPath();

    /** Whether something that is not Spring Security may know the caller. */
    boolean mayAuthenticate();

    /** Warns about what surrounds the rate limits and bypasses them. */
    void warnOfSurroundings();

    /**
     * Checks that requests can wait.
     *
     * @param policy lets them wait
     * @param beforeSecurity whether a policy lets them wait before Spring Security
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if something would be left out after a wait
     */
    void checkWaiting(String policy, boolean beforeSecurity);

    /**
     * Checks that calls of a handler can be charged, because its limits depend on its arguments.
     *
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if they cannot be
     */
    default void checkCalls(HandlerMethod handler) {}

    /** What the application answers; {@code null} if that cannot be told, as in a test of a part of it. */
    @Nullable
    Routes routes();
}

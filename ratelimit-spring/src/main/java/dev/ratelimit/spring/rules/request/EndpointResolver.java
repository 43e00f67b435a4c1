package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebRequest;
import org.jspecify.annotations.Nullable;

/** Finds the endpoints of requests, as the web stack will. Called by many threads at once. */
public interface EndpointResolver {

    /**
     * Returns the endpoint of the request: that of its handler; the endpoint that it misses only by, for example,
     * method or media type; {@link Endpoint#UNMAPPED} or {@link Endpoint#NOWHERE}.
     */
    Endpoint resolve(WebRequest request);

    /** The endpoint, if the web stack has looked it up already; {@code null} otherwise. Does not look it up. */
    default @Nullable Endpoint known(WebRequest request) {
        return null;
    }

    /** Whether its path may lead the request to an endpoint with annotations. Does not look up the endpoint. */
    boolean mayLeadToAnnotated(WebRequest request);

    /**
     * Whether its path may lead the request to a {@linkplain Endpoint#isManagement management endpoint}, in whichever
     * form the path is read. Does not look up the endpoint.
     */
    default boolean mayLeadToManagement(WebRequest request) {
        return false;
    }

    /** Whether routes serve requests, so that a {@linkplain WebRequest#route request has one}. */
    default boolean haveRoutes() {
        return false;
    }

    /** Whether the route of a request is known wherever rules by route apply, and not only where it names their policies. */
    default boolean knowRoutes() {
        return haveRoutes();
    }
}

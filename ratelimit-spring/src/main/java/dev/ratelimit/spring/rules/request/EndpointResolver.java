package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.WebRequest;
import java.util.Map;
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

    /**
     * The variables in the path of a request, after its endpoint was looked up, as the web stack has found them; {@code null} if
     * the pattern of the endpoint tells them.
     */
    default @Nullable Map<String, String> variables(WebRequest request) {
        return null;
    }

    /** Whether the application takes any suffix of a path, such as {@code .json}, for nothing. */
    default boolean ignoresSuffixes() {
        return false;
    }

    /** Whether the endpoint is only a guess at this stage, and the web stack finds it at a later one. */
    default boolean isGuess(WebRequest request) {
        return false;
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

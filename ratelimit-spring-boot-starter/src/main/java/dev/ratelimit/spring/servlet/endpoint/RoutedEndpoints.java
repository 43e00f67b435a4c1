package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints of an application with routes, which are only known when their handlers are called.
 *
 * @param endpoints those of the application
 */
public record RoutedEndpoints(EndpointResolver endpoints) implements EndpointResolver {

    @Override
    public Endpoint resolve(WebRequest request) {
        return endpoints.resolve(request);
    }

    @Override
    public @Nullable Map<String, String> variables(WebRequest request) {
        return endpoints.variables(request);
    }

    @Override
    public boolean ignoresSuffixes() {
        return endpoints.ignoresSuffixes();
    }

    @Override
    public boolean mayLeadToAnnotated(WebRequest request) {
        return endpoints.mayLeadToAnnotated(request);
    }

    @Override
    public boolean mayLeadToManagement(WebRequest request) {
        return endpoints.mayLeadToManagement(request);
    }

    @Override
    public boolean haveRoutes() {
        return true;
    }

    @Override
    public boolean knowRoutes() {
        return false;
    }
}

package dev.ratelimit.spring.reactive.request;

import java.util.List;
import org.springframework.web.server.ServerWebExchange;

/** Finds the routes of exchanges that nobody has sent. May block. */
@FunctionalInterface
public interface RouteFinder {

    /** Returns the policies that the route of the exchange names, in order; the exchange then has that route, if any. */
    List<String> find(ServerWebExchange exchange);
}

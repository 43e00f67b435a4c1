package dev.ratelimit.spring.web;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

/** Functional routes: one that its path alone leads to, and two that a parameter tells apart. */
@Configuration(proxyBeanMethods = false)
class Functions {

    @Bean
    RouterFunction<ServerResponse> named() {
        return RouterFunctions.route()
                .GET("/fn/{name}", request -> ServerResponse.ok().bodyValue(request.pathVariable("name")))
                .GET(
                        "/choice",
                        RequestPredicates.queryParam("q", "1"::equals),
                        request -> ServerResponse.ok().bodyValue("one"))
                .GET("/choice", request -> ServerResponse.ok().bodyValue("other"))
                .build();
    }
}

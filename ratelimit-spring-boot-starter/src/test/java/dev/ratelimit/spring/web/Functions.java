package dev.ratelimit.spring.web;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** Functional routes: one that its path alone leads to, and two that a parameter tells apart. */
@Configuration(proxyBeanMethods = false)
class Functions {

    @Bean
    RouterFunction<ServerResponse> named() {
        return RouterFunctions.route()
                .GET("/fn/{name}", request -> ServerResponse.ok().body(request.pathVariable("name")))
                .GET(
                        "/choice",
                        RequestPredicates.param("q", "1"::equals),
                        request -> ServerResponse.ok().body("one"))
                .GET("/choice", request -> ServerResponse.ok().body("other"))
                .build();
    }
}

package dev.ratelimit.sample.gateway;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Stands for the services behind the gateway, so that the sample is complete. */
@RestController
class ServiceController {

    @RequestMapping("/services/{name}")
    Mono<String> answer(@PathVariable String name) {
        return Mono.just("from the service " + name + "\n");
    }
}

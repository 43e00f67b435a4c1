package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.RateLimited;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A handler whose limit depends on an argument, so that its calls are charged. */
@RestController
class LimitedCalls {

    @GetMapping("/calls/{id}")
    @RateLimited(value = "1/hour", key = "#id", name = "calls")
    String call(@PathVariable("id") String id) {
        return id;
    }
}

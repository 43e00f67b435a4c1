package dev.ratelimit.sample;

import dev.ratelimit.spring.RateLimited;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Reports, which are expensive: each takes ten permits of the policy {@code reports}. */
@RestController
class ReportController {

    record Report(long id, String title) {}

    @GetMapping("/api/reports/{id}")
    @RateLimited(policy = "reports", permits = 10)
    Report byId(@PathVariable long id) {
        return new Report(id, "Sales of month " + id);
    }
}

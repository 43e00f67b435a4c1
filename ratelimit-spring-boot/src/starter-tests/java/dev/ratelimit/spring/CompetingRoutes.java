package dev.ratelimit.spring;

import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Routes that compete for the same paths. */
@RestController
@SuppressWarnings("unused")
public class CompetingRoutes {
    @GetMapping("/a")
    void a() {}

    @GetMapping({"/a/{x}", "/b"})
    void ax() {}

    @GetMapping("/a/b")
    void ab() {}

    @PostMapping("/a/b")
    void postAb() {}

    @GetMapping("/c/a")
    void ca() {}

    @DeleteMapping("/a/{x}")
    void deleteAx() {}

    @PostMapping(path = "/a/{x}", consumes = "application/json")
    void json() {}

    @PostMapping(path = "/a/{x}", consumes = "text/plain", produces = "text/plain")
    void text() {}

    @GetMapping(path = "/a/{x}/c", params = "p")
    void withParameter() {}

    @GetMapping(path = "/a/{x}/c", headers = "X-H=1")
    void withHeader() {}

    @GetMapping("/{x:[ab]+}/{y}/c")
    void regex() {}

    @RequestMapping("/any/**")
    void any() {}

    @RequestMapping(path = "/any/{x}", produces = "application/json")
    void produces() {}

    @GetMapping("/rest/{*rest}")
    void rest() {}

    @GetMapping("/*.txt")
    void file() {}
}

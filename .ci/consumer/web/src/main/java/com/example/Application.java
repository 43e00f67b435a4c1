package com.example;

import dev.ratelimit.spring.RateLimited;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @RestController
    static class Controller {

        @GetMapping("/hello")
        String hello() {
            return "hello";
        }

        @GetMapping("/dear")
        @RateLimited("1/minute")
        String dear() {
            return "dear";
        }
    }
}

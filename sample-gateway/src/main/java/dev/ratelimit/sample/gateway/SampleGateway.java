package dev.ratelimit.sample.gateway;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the gateway on port 8080. The routes and their limits are in {@code application.yml}. */
@SpringBootApplication
public class SampleGateway {

    /** Starts it. */
    public static void main(String[] args) {
        SpringApplication.run(SampleGateway.class, args);
    }
}

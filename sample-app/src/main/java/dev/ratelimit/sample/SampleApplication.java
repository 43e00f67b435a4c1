package dev.ratelimit.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the API on port 8080. The limits are in {@code application.yml} and on the controllers. */
@SpringBootApplication
public class SampleApplication {

    /** Starts it. */
    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }
}

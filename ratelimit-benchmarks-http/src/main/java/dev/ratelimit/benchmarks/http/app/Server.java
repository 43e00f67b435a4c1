package dev.ratelimit.benchmarks.http.app;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** One endpoint. A profile says who limits it: {@code none}, {@code ours}, {@code bucket4j}. Prints its port. */
@SpringBootApplication
@RestController
public class Server {

    /** Starts the server. */
    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }

    /** As little as an endpoint can do. */
    @GetMapping("/hello")
    public String hello() {
        return "hello";
    }

    @Bean
    ApplicationListener<WebServerInitializedEvent> port() {
        return event -> System.out.println("port " + event.getWebServer().getPort());
    }

    /** Where Bucket4j's starter keeps its buckets. */
    @Profile("bucket4j")
    @EnableCaching
    @Configuration(proxyBeanMethods = false)
    static class Cache {}
}

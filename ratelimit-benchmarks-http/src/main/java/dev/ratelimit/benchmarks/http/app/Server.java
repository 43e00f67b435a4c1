package dev.ratelimit.benchmarks.http.app;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.beans.factory.annotation.Value;
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
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * A server with one endpoint. A profile selects the limiter: {@code none}, {@code floor}, {@code hand},
 * {@code ours}, {@code bucket4j}. Prints its port.
 */
@SpringBootApplication
@RestController
public class Server {

    private static final int USERS = 100;

    /** Starts the server. */
    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }

    /** The cheapest possible endpoint. */
    @GetMapping("/hello")
    public String hello() {
        return "hello";
    }

    @Bean
    ApplicationListener<WebServerInitializedEvent> port() {
        return event -> System.out.println("port " + event.getWebServer().getPort());
    }

    /** The cheapest possible limit: one budget for all users, in one long, and a refusal with one header. */
    @Profile("floor")
    @Bean
    OncePerRequestFilter floor(@Value("${user-limit}") long userLimit) {
        long second = 1_000_000_000L;
        long interval = Math.max(1, second / userLimit / USERS);
        AtomicLong arrival = new AtomicLong(System.nanoTime());
        return new OncePerRequestFilter() {
            @Override
            protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                    throws ServletException, IOException {
                if (admitted(System.nanoTime())) {
                    chain.doFilter(request, response);
                } else {
                    response.setStatus(429);
                    response.setHeader("Retry-After", "1");
                }
            }

            private boolean admitted(long now) {
                while (true) {
                    long seen = arrival.get();
                    long next = Math.max(seen, now - second) + interval;
                    if (next - now > 0) {
                        return false;
                    }
                    if (arrival.compareAndSet(seen, next)) {
                        return true;
                    }
                }
            }
        };
    }

    /** What a careful team would write: a budget for each user, and the same headers and body as {@code ours}. */
    @Profile("hand")
    @Bean
    OncePerRequestFilter hand(@Value("${user-limit}") long userLimit) {
        return new HandWrittenFilter(userLimit);
    }

    /** The cache of Bucket4j's starter. */
    @Profile("bucket4j")
    @EnableCaching
    @Configuration(proxyBeanMethods = false)
    static class Cache {}
}

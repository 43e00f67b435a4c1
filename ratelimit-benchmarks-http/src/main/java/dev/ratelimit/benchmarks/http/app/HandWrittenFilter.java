package dev.ratelimit.benchmarks.http.app;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.web.filter.OncePerRequestFilter;

/** One budget for each user, without options: the responses are those of the library with its defaults. */
final class HandWrittenFilter extends OncePerRequestFilter {

    private static final long SECOND = 1_000_000_000L;

    private final long limit;
    private final long interval;
    private final String policy;

    /** When the budget of each user is full again. */
    private final Map<String, AtomicLong> fullAt = new ConcurrentHashMap<>();

    HandWrittenFilter(long limit) {
        this.limit = limit;
        this.interval = SECOND / limit;
        this.policy = "\"per-user\";q=" + limit + ";w=1";
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String user = request.getHeader("X-User");
        long now = System.nanoTime();
        AtomicLong full = fullAt.computeIfAbsent(user == null ? "" : user, name -> new AtomicLong(now));
        while (true) {
            long before = full.get();
            long after = Math.max(before, now) + interval;
            if (after - now > SECOND) {
                refuse(response, after - now - SECOND);
                return;
            }
            if (full.compareAndSet(before, after)) {
                writeHeaders(response, (SECOND - after + now) / interval);
                chain.doFilter(request, response);
                return;
            }
        }
    }

    private void writeHeaders(HttpServletResponse response, long remaining) {
        response.setHeader("RateLimit-Policy", policy);
        response.setHeader("RateLimit", "\"per-user\";r=" + remaining + ";t=1");
    }

    private void refuse(HttpServletResponse response, long wait) throws IOException {
        long jittered = wait + ThreadLocalRandom.current().nextLong(SECOND);
        long seconds = (jittered + SECOND - 1) / SECOND;
        response.setStatus(429);
        response.setHeader("Cache-Control", "no-store");
        writeHeaders(response, 0);
        response.setHeader("Retry-After", Long.toString(seconds));
        String body = "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                + "\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"Limit 'per-user' of " + limit
                + " per second is exceeded. Retry after " + seconds + (seconds == 1 ? " second" : " seconds")
                + ".\",\"violated-policies\":[\"per-user\"],\"retry-after\":" + seconds + "}";
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setContentType("application/problem+json");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}

package dev.ratelimit.benchmarks.http.app;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.web.filter.OncePerRequestFilter;

/** One budget for each user, without options: the responses are those of the library with its defaults. */
final class HandWrittenFilter extends OncePerRequestFilter {

    private static final long SECOND = 1_000_000_000L;

    private final long interval;
    private final String policy;

    /** The body of a refusal before the seconds, between them and after them. */
    private final byte[] head;

    private final byte[] middle = bytes(".\",\"violated-policies\":[\"per-user\"],\"retry-after\":");
    private final byte[] tail = bytes("}");

    /** When the budget of each user is full again. */
    private final Map<String, AtomicLong> fullAt = new ConcurrentHashMap<>();

    HandWrittenFilter(long limit) {
        this.interval = SECOND / limit;
        this.policy = "\"per-user\";q=" + limit + ";w=1";
        this.head = bytes("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                + "\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"Limit 'per-user' of " + limit
                + " per second is exceeded. Retry after ");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
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
        byte[] words = bytes(seconds + (seconds == 1 ? " second" : " seconds"));
        byte[] number = bytes(Long.toString(seconds));
        response.setContentType("application/problem+json");
        int length = head.length + words.length + middle.length + number.length + tail.length;
        ByteBuffer body = ByteBuffer.allocate(length);
        body.put(head).put(words).put(middle).put(number).put(tail);
        response.setContentLength(length);
        response.getOutputStream().write(body.array());
    }
}

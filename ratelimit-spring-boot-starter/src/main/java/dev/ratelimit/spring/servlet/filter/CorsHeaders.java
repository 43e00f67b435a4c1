package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.servlet.request.AttributeKeepingRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsProcessor;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.cors.DefaultCorsProcessor;

/**
 * Lets scripts in browsers read a refusal if they may read other responses: a refused request does not reach whatever
 * else writes CORS headers.
 */
public final class CorsHeaders {

    private final Supplier<List<CorsConfigurationSource>> sources;
    private final String exposed;
    private final CorsProcessor processor = new DefaultCorsProcessor();

    /**
     * Creates the headers that these sources configure.
     *
     * @param sources in the order in which they are asked
     * @param exposed additional headers that scripts may read
     */
    public CorsHeaders(Supplier<List<CorsConfigurationSource>> sources, List<String> exposed) {
        this.sources = sources;
        this.exposed = String.join(", ", exposed);
    }

    void write(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            writeIfCors(request, response);
        } catch (IllegalArgumentException | IllegalStateException malformed) {
            // scripts of an invalid origin may read nothing
        }
    }

    private void writeIfCors(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!CorsUtils.isCorsRequest(request)) {
            return;
        }
        if (!response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)) {
            CorsConfiguration configuration = find(request);
            // if the origin is not allowed, the processor would answer 403
            if (configuration == null || !allows(configuration, request)) {
                return;
            }
            processor.processRequest(configuration, request, response);
        }
        response.addHeader(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }

    private @Nullable CorsConfiguration find(HttpServletRequest request) {
        HttpServletRequest view = new AttributeKeepingRequest(request);
        for (CorsConfigurationSource source : sources.get()) {
            CorsConfiguration configuration = source.getCorsConfiguration(view);
            if (configuration != null) {
                return configuration;
            }
        }
        return null;
    }

    private static boolean allows(CorsConfiguration configuration, HttpServletRequest request) {
        HttpMethod method = HttpMethod.valueOf(request.getMethod());
        return configuration.checkOrigin(request.getHeader(HttpHeaders.ORIGIN)) != null
                && configuration.checkHttpMethod(method) != null;
    }
}

package dev.ratelimit.client;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** Whose budget a call is charged to. Implementations are thread-safe and do not block. */
@FunctionalInterface
public interface RequestKey {

    /**
     * {@return the key of a request; {@code null} if there is nothing to charge}
     *
     * @param request about to be sent
     */
    @Nullable
    String of(OutgoingRequest request);

    /** {@return one budget per scheme, host and port} */
    static RequestKey host() {
        return OutgoingRequest::host;
    }

    /** {@return one budget per host and value of the {@code Authorization} header} The key has a hash of it. */
    static RequestKey credential() {
        return header(HttpHeaders.AUTHORIZATION);
    }

    /**
     * {@return one budget per host and value of a header, such as one with an API key} The key has a hash of the value.
     * Requests to a host without the header share a budget.
     *
     * @param name of the header; an interceptor or filter that sets it must come first
     */
    static RequestKey header(String name) {
        return request -> {
            String value = request.headers().getFirst(name);
            return request.host() + (value == null ? "" : " " + hash(value));
        };
    }

    /**
     * {@return one budget per method, host and URI template} Requests to a host
     * {@linkplain OutgoingRequest#uriTemplate without a template} share a budget.
     */
    static RequestKey uriTemplate() {
        return request -> {
            String template = request.uriTemplate();
            return template == null ? request.host() : request + " " + template;
        };
    }

    private static String hash(String secret) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

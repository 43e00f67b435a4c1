package dev.ratelimit.spring.boot.spi;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import org.springframework.http.HttpMethod;

/**
 * What is said of a request that nobody has sent.
 *
 * @param method such as {@code GET}
 * @param target the path, relative to the application and to Spring MVC's servlet, and perhaps a query
 * @param address of the peer
 * @param headers lines such as {@code X-Api-Key: a}
 */
public record RequestFacts(String method, String target, String address, List<String> headers) {

    private static final List<HttpMethod> METHODS = List.of(HttpMethod.values());

    /** Validates the method, the path and the headers. */
    public RequestFacts {
        if (METHODS.stream().noneMatch(known -> known.name().equals(method))) {
            throw new IllegalArgumentException(
                    "method must be an HTTP method in capital letters, such as GET, but was " + Quotation.of(method));
        }
        if (!target.startsWith("/")) {
            throw new IllegalArgumentException("path must start with / but was " + Quotation.of(target));
        }
        for (String line : headers) {
            if (line.indexOf(':') < 1) {
                throw new IllegalArgumentException(
                        "a header needs a name and a value, but was " + Quotation.of(line) + "; write X-Api-Key: a");
            }
        }
    }
}

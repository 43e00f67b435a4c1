package dev.ratelimit.client;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;

/**
 * A request that is about to be sent, as {@link RequestKey}s see it.
 *
 * @param method the method
 * @param uri the URI, absolute, with its variables filled in
 * @param headers the headers that earlier interceptors and filters have set
 * @param attributes the attributes of the request
 */
public record OutgoingRequest(HttpMethod method, URI uri, HttpHeaders headers, Map<String, Object> attributes) {

    /** Where the clients keep the template. */
    private static final List<String> TEMPLATES = List.of(
            "org.springframework.web.client.RestClient.uriTemplate",
            "org.springframework.web.reactive.function.client.WebClient.uriTemplate");

    /** {@return scheme, host and port, in one spelling, such as {@code https://api.example.com}} */
    public String host() {
        String scheme = lowerCase(uri.getScheme());
        String host = scheme + "://" + lowerCase(uri.getHost());
        int port = uri.getPort();
        boolean usual = port == -1 || (port == 443 && "https".equals(scheme)) || (port == 80 && "http".equals(scheme));
        return usual ? host : host + ":" + port;
    }

    /**
     * {@return the URI template, such as {@code /orders/{id}}; {@code null} unless a {@code RestClient} or
     * {@code WebClient} was given the URI as a text}
     */
    public @Nullable String uriTemplate() {
        for (String attribute : TEMPLATES) {
            Object template = attributes.get(attribute);
            if (template != null) {
                return template.toString();
            }
        }
        return null;
    }

    private static @Nullable String lowerCase(@Nullable String text) {
        return text == null ? null : text.toLowerCase(Locale.ROOT);
    }

    /** Without user, path and query, which may be secrets. */
    @Override
    public String toString() {
        return method + " " + host();
    }
}

package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whose budget a request is charged to: some of its properties, put together. Without any, all share one.
 *
 * <p>What a part has no value for is charged to the peer's address. Values come from clients: {@link KeyEncoder} sees to it
 * that no value can pass for another, and that none costs much. Immutable.
 */
public final class RuleKey {

    /** One budget for all. */
    public static final RuleKey SHARED = new RuleKey(List.of());

    private static final String HEADER = "header:";

    private sealed interface Part {

        void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint);

        /** Whether the value tells callers apart. */
        default boolean own() {
            return true;
        }
    }

    /** What the application knows of the caller; else the address. */
    private record User(String name) implements Part {

        @Override
        public void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint) {
            Principal principal = request.getUserPrincipal();
            identity(key, 'u', principal == null ? null : principal.getName(), request);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private enum Simple implements Part {
        IP {
            @Override
            public void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint) {
                key.append('a', request.getRemoteAddr());
            }
        },
        ENDPOINT {
            @Override
            public void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint) {
                key.append('e', endpoint);
            }

            @Override
            public boolean own() {
                return false;
            }
        },
        METHOD {
            @Override
            public void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint) {
                String method = RuleMatch.methodOf(request.getMethod());
                key.append('m', RuleMatch.METHODS.contains(method) ? method : "other");
            }

            @Override
            public boolean own() {
                return false;
            }
        };

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private record Header(String name) implements Part {

        @Override
        public void appendTo(KeyEncoder key, HttpServletRequest request, String endpoint) {
            List<String> values = Collections.list(request.getHeaders(name));
            identity(key, 'h', values.size() == 1 ? values.get(0) : null, request);
        }

        @Override
        public String toString() {
            return HEADER + name;
        }
    }

    private final List<Part> parts;

    private RuleKey(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    /**
     * Reads the parts of a key.
     *
     * @param texts {@code user}, {@code principal}, {@code ip}, {@code endpoint}, {@code method} or {@code header:X} each
     * @throws IllegalArgumentException when one is something else, or stands twice
     */
    public static RuleKey parse(List<String> texts) {
        List<Part> parts = new ArrayList<>();
        for (String text : texts) {
            Part part = parsePart(text.strip());
            if (parts.contains(part)) {
                throw new IllegalArgumentException("'" + part + "' stands twice; once is enough");
            }
            parts.add(part);
        }
        return new RuleKey(parts);
    }

    private static Part parsePart(String text) {
        if (text.startsWith(HEADER)) {
            String name = text.substring(HEADER.length()).strip();
            if (!Tokens.isToken(name)) {
                throw new IllegalArgumentException("'" + text + "' names no header; write header:X-Api-Key");
            }
            return new Header(name);
        }
        return switch (text) {
            case "user", "principal" -> new User(text);
            case "ip" -> Simple.IP;
            case "endpoint" -> Simple.ENDPOINT;
            case "method" -> Simple.METHOD;
            default ->
                throw new IllegalArgumentException("'" + text
                        + "' is no part of a key; write user, principal, ip, endpoint, method or header:NAME");
        };
    }

    /** Whether the endpoint is part of it. */
    public boolean hasEndpoint() {
        return parts.contains(Simple.ENDPOINT);
    }

    /** Whether the budget is the caller's own, so that telling what is left tells nothing of others. */
    public boolean own() {
        return parts.stream().anyMatch(Part::own);
    }

    /** How many parts it has: the more, the more specific. */
    public int size() {
        return parts.size();
    }

    /** The key of a request that leads to this endpoint, at most 64 bytes long. */
    public String of(HttpServletRequest request, String endpoint) {
        if (parts.isEmpty()) {
            return "";
        }
        KeyEncoder key = new KeyEncoder();
        for (Part part : parts) {
            part.appendTo(key, request, endpoint);
        }
        return key.toString();
    }

    /** Names of users and the like: equal if they look equal. Nothing, or nothing but blanks, is the address. */
    private static void identity(KeyEncoder key, char kind, @Nullable String value, HttpServletRequest request) {
        String normal = value == null
                ? ""
                : Normalizer.normalize(value, Normalizer.Form.NFKC).strip();
        if (normal.isEmpty()) {
            key.append('a', request.getRemoteAddr());
        } else {
            key.append(kind, normal);
        }
    }

    /** For people: {@code by user, endpoint}. */
    @Override
    public String toString() {
        return parts.isEmpty()
                ? "for all together"
                : "by " + String.join(", ", parts.stream().map(Object::toString).toList());
    }
}

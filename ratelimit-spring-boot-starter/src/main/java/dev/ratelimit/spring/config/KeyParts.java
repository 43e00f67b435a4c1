package dev.ratelimit.spring.config;

import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.KeyPart;
import dev.ratelimit.spring.RuleMatch;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.Enumeration;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The parts that a key can have. What occurs more than once in a request is no value: which one counts is not known here. */
enum KeyParts implements KeyPart {
    /** The name of the principal; the address where there is none. */
    USER {
        @Override
        public boolean appendTo(KeyEncoder key, Call call) {
            Principal principal = call.request().getUserPrincipal();
            if (principal == null || !key.appendIdentity('u', principal.getName())) {
                call.appendAddress(key);
            }
            return true;
        }

        @Override
        public boolean appendTo(KeyEncoder key, String written) {
            return key.appendIdentity('u', written);
        }

        @Override
        public boolean needsSecurity() {
            return true;
        }

        @Override
        public boolean needsPrincipal() {
            return true;
        }
    },
    /** The client's address. */
    IP {
        @Override
        public boolean appendTo(KeyEncoder key, Call call) {
            call.appendAddress(key);
            return true;
        }
    },
    /** The handler's pattern. */
    ENDPOINT {
        @Override
        public boolean appendTo(KeyEncoder key, Call call) {
            key.append('e', call.endpoint());
            return true;
        }

        @Override
        public boolean isOwn(Call call) {
            return false;
        }

        @Override
        public boolean needsEndpoint() {
            return true;
        }
    },
    /** The HTTP method. */
    METHOD {
        @Override
        public boolean appendTo(KeyEncoder key, Call call) {
            String method = RuleMatch.methodOf(call.request().getMethod());
            key.append('m', RuleMatch.METHODS.contains(method) ? method : "other");
            return true;
        }

        @Override
        public boolean isOwn(Call call) {
            return false;
        }
    };

    @Override
    public boolean appendTo(KeyEncoder key, String written) {
        return false;
    }

    @Override
    public boolean isOwn(Call call) {
        return true;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whose value it is. */
    private enum Owner {
        /** The caller's. */
        CALLER,
        /** The caller's as far as is known: of one that nobody knows, it may be another's. */
        CALLER_IF_KNOWN,
        /** Anybody's whom the caller names. */
        ANYBODY
    }

    /** What has to be known before. */
    private enum Need {
        NOTHING,
        ENDPOINT,
        SECURITY,
        PRINCIPAL
    }

    private record Traits(char kind, Owner owner, Need need) {}

    /** A value that may be missing; known by the text that it was written as. */
    private record Value(String text, Traits traits, Function<Call, @Nullable String> value) implements KeyPart {

        @Override
        public boolean appendTo(KeyEncoder key, Call call) {
            return key.appendIdentity(traits.kind(), value.apply(call));
        }

        @Override
        public boolean appendTo(KeyEncoder key, String written) {
            return key.appendIdentity(traits.kind(), written);
        }

        @Override
        public boolean isOwn(Call call) {
            return switch (traits.owner()) {
                case CALLER -> true;
                case CALLER_IF_KNOWN -> call.request().getUserPrincipal() != null;
                case ANYBODY -> false;
            };
        }

        @Override
        public boolean needsEndpoint() {
            return traits.need() == Need.ENDPOINT;
        }

        @Override
        public boolean needsSecurity() {
            return traits.need() == Need.SECURITY || needsPrincipal();
        }

        @Override
        public boolean needsPrincipal() {
            return traits.need() == Need.PRINCIPAL;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Value same && same.text.equals(text);
        }

        @Override
        public int hashCode() {
            return text.hashCode();
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** The name of the principal, which may be missing. */
    static KeyPart principal() {
        return new Value("principal", new Traits('u', Owner.CALLER, Need.PRINCIPAL), call -> {
            Principal principal = call.request().getUserPrincipal();
            return principal == null ? null : principal.getName();
        });
    }

    /** The session that there is, and not the one that the client says it has. */
    static KeyPart session() {
        return new Value("session", new Traits('s', Owner.CALLER, Need.SECURITY), call -> {
            HttpSession session = call.request().getSession(false);
            return session == null ? null : session.getId();
        });
    }

    static KeyPart header(String name) {
        return new Value(
                "header:" + name.toLowerCase(Locale.ROOT),
                new Traits('h', Owner.CALLER, Need.NOTHING),
                call -> onlyHeader(call.request(), name));
    }

    private static @Nullable String onlyHeader(HttpServletRequest request, String name) {
        Enumeration<String> values = request.getHeaders(name);
        if (values == null || !values.hasMoreElements()) {
            return null;
        }
        String value = values.nextElement();
        return values.hasMoreElements() ? null : value;
    }

    static KeyPart cookie(String name) {
        return new Value(
                "cookie:" + name,
                new Traits('c', Owner.CALLER, Need.NOTHING),
                call -> onlyCookie(call.request(), name));
    }

    private static @Nullable String onlyCookie(HttpServletRequest request, String name) {
        Cookie[] cookies = request.getCookies();
        String value = null;
        if (cookies != null) {
            for (Cookie cookie : cookies) {
                if (cookie.getName().equals(name)) {
                    if (value != null) {
                        return null;
                    }
                    value = cookie.getValue();
                }
            }
        }
        return value;
    }

    /** A parameter of the query; the body is not read. */
    static KeyPart query(String name) {
        return new Value(
                "query:" + name,
                new Traits('q', Owner.ANYBODY, Need.NOTHING),
                call -> QueryString.only(call.request().getQueryString(), name));
    }

    static KeyPart path(String name) {
        return new Value(
                "path:" + name, new Traits('p', Owner.ANYBODY, Need.ENDPOINT), call -> call.pathVariable(name));
    }

    static KeyPart claim(String name) {
        return new Value(
                "claim:" + name,
                new Traits('j', Owner.CALLER, Need.PRINCIPAL),
                call -> Claims.of(call.request().getUserPrincipal(), name));
    }

    static KeyPart bean(String name, Function<Call, @Nullable String> resolver) {
        return new Value("bean:" + name, new Traits('b', Owner.CALLER_IF_KNOWN, Need.SECURITY), resolver);
    }

    static KeyPart expression(String text) {
        CallExpression expression = new CallExpression(text);
        return new Value(text, new Traits('x', Owner.CALLER_IF_KNOWN, Need.SECURITY), call -> {
            Object value = expression.evaluate(call, null);
            return value == null ? null : value.toString();
        });
    }
}

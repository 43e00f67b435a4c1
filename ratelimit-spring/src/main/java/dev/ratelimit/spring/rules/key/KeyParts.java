package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;

/**
 * The kinds of key parts. A value that occurs more than once in a request counts as missing, because the application
 * may read either.
 */
public enum KeyParts implements KeyPart {
    /** The name of the principal; the address if there is none. */
    USER {
        @Override
        public boolean appendTo(KeyEncoder key, RequestContext context) {
            Principal principal = context.request().principal();
            if (principal == null || !key.appendIdentity('u', principal.getName())) {
                context.appendAddress(key);
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
        public boolean appendTo(KeyEncoder key, RequestContext context) {
            context.appendAddress(key);
            return true;
        }
    },
    /** The pattern of the handler. */
    ENDPOINT {
        @Override
        public boolean appendTo(KeyEncoder key, RequestContext context) {
            context.endpoint().appendTo(key);
            return true;
        }

        @Override
        public boolean identifiesCaller(RequestContext context) {
            return false;
        }
    },
    /** The HTTP method. */
    METHOD {
        @Override
        public boolean appendTo(KeyEncoder key, RequestContext context) {
            String method = HttpMethods.seenAs(context.request().method());
            key.append('m', HttpMethods.ALL.contains(method) ? method : "other");
            return true;
        }

        @Override
        public boolean identifiesCaller(RequestContext context) {
            return false;
        }
    };

    @Override
    public boolean appendTo(KeyEncoder key, String written) {
        return false;
    }

    @Override
    public boolean identifiesCaller(RequestContext context) {
        return true;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static final String HEADER = "header:";
    private static final char EXPRESSION = 'x';

    /** The owner of a value. */
    private enum Owner {
        /** The caller. */
        CALLER,
        /** The caller, if authenticated; otherwise possibly somebody else. */
        CALLER_IF_KNOWN,
        /** Anybody whom the caller names. */
        ANYBODY
    }

    /** What must be known first. */
    private enum Need {
        NOTHING,
        SECURITY,
        PRINCIPAL
    }

    private record Traits(char kind, Owner owner, Need need) {}

    /** A value that may be missing. Parts are equal if their texts are; logs and errors show another one. */
    private record Value(
            String text,
            String shown,
            Traits traits,
            Set<String> arguments,
            Function<RequestContext, @Nullable String> value)
            implements KeyPart {

        Value(String text, Traits traits, Function<RequestContext, @Nullable String> value) {
            this(text, text, traits, Set.of(), value);
        }

        @Override
        public boolean appendTo(KeyEncoder key, RequestContext context) {
            return key.appendIdentity(traits.kind(), value.apply(context));
        }

        @Override
        public boolean appendTo(KeyEncoder key, String written) {
            return key.appendIdentity(traits.kind(), written);
        }

        @Override
        public boolean identifiesCaller(RequestContext context) {
            return switch (traits.owner()) {
                case CALLER -> true;
                case CALLER_IF_KNOWN -> context.request().principal() != null;
                case ANYBODY -> false;
            };
        }

        @Override
        public @Nullable String header() {
            return traits.kind() == 'h' ? text.substring(HEADER.length()) : null;
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
            return shown;
        }
    }

    /** The name of the principal; missing if there is none. */
    static KeyPart principal() {
        return new Value("principal", new Traits('u', Owner.CALLER, Need.PRINCIPAL), context -> {
            Principal principal = context.request().principal();
            return principal == null ? null : principal.getName();
        });
    }

    /** The id of the existing session, not the id that the client sends. */
    static KeyPart session() {
        return new Value(
                "session",
                new Traits('s', Owner.CALLER, Need.SECURITY),
                context -> context.request().sessionId());
    }

    static KeyPart header(String name) {
        return new Value(
                HEADER + name.toLowerCase(Locale.ROOT),
                new Traits('h', Owner.CALLER, Need.NOTHING),
                context -> onlyHeader(context.request(), name));
    }

    private static @Nullable String onlyHeader(WebRequest request, String name) {
        List<String> lines = request.headers(name);
        return lines.size() == 1 ? lines.get(0) : null;
    }

    static KeyPart cookie(String name) {
        return new Value(
                "cookie:" + name,
                new Traits('c', Owner.CALLER, Need.NOTHING),
                context -> onlyCookie(context.request(), name));
    }

    private static @Nullable String onlyCookie(WebRequest request, String name) {
        String value = null;
        for (HttpCookie cookie : request.cookies()) {
            if (cookie.getName().equals(name)) {
                if (value != null) {
                    return null;
                }
                value = cookie.getValue();
            }
        }
        return value;
    }

    /** A query parameter; the body is not read. */
    static KeyPart query(String name) {
        return new Value(
                "query:" + name,
                new Traits('q', Owner.ANYBODY, Need.NOTHING),
                context -> QueryString.only(context.request().query(), name));
    }

    static KeyPart path(String name) {
        return new Value(
                "path:" + name, new Traits('p', Owner.ANYBODY, Need.NOTHING), context -> context.pathVariable(name));
    }

    /** Whether the part is the name of the caller. */
    public static boolean isUser(KeyPart part) {
        return part == USER || (part instanceof Value value && value.traits.kind() == 'u');
    }

    /** Whether the part is calculated. */
    public static boolean isExpression(KeyPart part) {
        return part instanceof Value value && value.traits.kind() == EXPRESSION;
    }

    /** The name of the variable that a part is; {@code null} for other parts. */
    public static @Nullable String pathVariableOf(KeyPart part) {
        return part instanceof Value value && value.traits.kind() == 'p'
                ? value.text.substring("path:".length())
                : null;
    }

    static KeyPart claim(String name) {
        return new Value(
                "claim:" + name,
                new Traits('j', Owner.CALLER, Need.PRINCIPAL),
                context -> Claims.of(context.request().principal(), name));
    }

    static KeyPart bean(String name, Function<RequestContext, @Nullable String> resolver) {
        return new Value("bean:" + name, new Traits('b', Owner.CALLER_IF_KNOWN, Need.SECURITY), resolver);
    }

    static KeyPart expression(String text, Parameters parameters) {
        RequestExpression expression = RequestExpression.ofRequest(text, parameters);
        Need need = expression.needsPrincipal() ? Need.PRINCIPAL : Need.SECURITY;
        Traits traits = new Traits(EXPRESSION, Owner.CALLER_IF_KNOWN, need);
        return new Value(text, expression.toString(), traits, expression.arguments(), expression::key);
    }
}

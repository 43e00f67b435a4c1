package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.security.Principal;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;

/**
 * The kinds of key parts, one row each: the letter that begins their values in a key, whether they are written with a
 * name, whose their values are, what they read, and how a request's value is read. Kinds with the same letter
 * share budgets.
 */
public enum KeyKind {
    /** The name of the principal; the address if there is none. */
    USER('u', Form.WORD, Owner.CALLER, Fact.USER, (context, name) -> principal(context)),
    /** The name of the principal; missing if there is none. The same budget as that of a user. */
    PRINCIPAL('u', Form.WORD, Owner.CALLER, Fact.USER, (context, name) -> principal(context)),
    /** The client's address. */
    IP('a', Form.WORD, Owner.CALLER, Fact.ADDRESS, (context, name) -> null),
    /** The pattern of the handler. */
    ENDPOINT('e', Form.WORD, Owner.ANYBODY, Fact.ENDPOINT, (context, name) -> null),
    /** The id of the route, where there are routes. */
    ROUTE(
            'r',
            Form.WORD,
            Owner.ANYBODY,
            Fact.ROUTE,
            (context, name) -> context.request().route()),
    /** The HTTP method. */
    METHOD('m', Form.WORD, Owner.ANYBODY, Fact.METHOD, (context, name) -> null),
    /** The id of the existing session, not the id that the client sends. */
    SESSION(
            's',
            Form.WORD,
            Owner.CALLER,
            Fact.SESSION,
            (context, name) -> context.request().sessionId()),
    /** A header that the request has once. */
    HEADER(
            'h',
            Form.NAMED,
            Owner.CALLER,
            Fact.HEADER,
            (context, name) -> only(context.request().headers(name))),
    /** A query parameter; the body is not read. */
    QUERY(
            'q',
            Form.NAMED,
            Owner.ANYBODY,
            Fact.QUERY,
            (context, name) -> QueryString.only(context.request().query(), name)),
    /** A cookie that the request has once. */
    COOKIE('c', Form.NAMED, Owner.CALLER, Fact.COOKIE, (context, name) -> only(cookies(context.request(), name))),
    /** A path variable. */
    PATH('p', Form.NAMED, Owner.ANYBODY, Fact.PATH_VARIABLE, RequestContext::pathVariable),
    /** A claim of the caller's token. */
    CLAIM(
            'j',
            Form.NAMED,
            Owner.CALLER,
            Fact.CLAIM,
            (context, name) -> Claims.of(context.request().principal(), name)),
    /** What a resolver of the application says; each has its own. */
    BEAN('b', Form.NAMED, Owner.CALLER_IF_KNOWN, Fact.BEAN, (context, name) -> null),
    /** The value of an expression, which reads other facts; each has its own. */
    EXPRESSION('x', Form.EXPRESSION, Owner.CALLER_IF_KNOWN, null, (context, name) -> null);

    /** How a kind is written. */
    private enum Form {
        WORD,
        NAMED,
        EXPRESSION
    }

    /** The owner of a value. */
    enum Owner {
        /** The caller. */
        CALLER,
        /** The caller, if authenticated; otherwise possibly somebody else. */
        CALLER_IF_KNOWN,
        /** Anybody whom the caller names. */
        ANYBODY
    }

    private final char letter;
    private final Form form;
    private final Owner owner;
    private final @Nullable Fact fact;
    private final BiFunction<RequestContext, String, @Nullable String> value;

    KeyKind(
            char letter,
            Form form,
            Owner owner,
            @Nullable Fact fact,
            BiFunction<RequestContext, String, @Nullable String> value) {
        this.letter = letter;
        this.form = form;
        this.owner = owner;
        this.fact = fact;
        this.value = value;
    }

    /** The kind that is written like this; {@code null} if there is none. */
    static @Nullable KeyKind of(String word, boolean named) {
        Form form = named ? Form.NAMED : Form.WORD;
        return Stream.of(values())
                .filter(kind -> kind.form == form && kind.toString().equals(word))
                .findFirst()
                .orElse(null);
    }

    /** The words with which kinds begin. */
    static List<String> words() {
        return Stream.of(values())
                .filter(kind -> kind.form != Form.EXPRESSION)
                .map(KeyKind::toString)
                .toList();
    }

    /** For messages: how all kinds are written. */
    static String all() {
        return Stream.of(values())
                .filter(kind -> kind.form != Form.EXPRESSION)
                .map(kind -> kind + (kind.form == Form.NAMED ? ":NAME" : ""))
                .collect(Collectors.joining(", ", "", " or an expression that starts with # (in quotes)"));
    }

    /** What a value in a key begins with. */
    public char letter() {
        return letter;
    }

    Owner owner() {
        return owner;
    }

    /** What a part of this kind reads, besides the facts that an expression names. */
    Reads reads(String name) {
        return fact == null ? Reads.NOTHING : Reads.of(fact, name);
    }

    /** Whether the value may be unknown before Spring Security has run, whoever the caller is. */
    boolean needsSecurity() {
        return this == SESSION || this == ROUTE || this == BEAN || this == EXPRESSION;
    }

    /** The value of a request; {@code null} if it has none. */
    @Nullable
    String valueOf(RequestContext context, String name) {
        return value.apply(context, name);
    }

    /** Whether every request has a value. */
    public boolean isNeverMissing() {
        return this == USER || this == IP || this == ENDPOINT || this == METHOD;
    }

    /** Whether the value is the name of the caller. */
    public boolean isUser() {
        return this == USER || this == PRINCIPAL;
    }

    /** Whether it is about what is requested, and not about the caller. */
    public boolean isOfTarget() {
        return this == ENDPOINT || this == ROUTE || this == METHOD;
    }

    /** As it is written. */
    @Override
    public String toString() {
        return PropertyName.of(this);
    }

    private static @Nullable String principal(RequestContext context) {
        Principal principal = context.request().principal();
        return principal == null ? null : principal.getName();
    }

    /** Whether the request has something where the value would be: several values, or one that is blank to a limit only. */
    boolean isHidden(RequestContext context, String name) {
        WebRequest request = context.request();
        List<String> sent = switch (this) {
            case HEADER -> request.headers(name);
            case COOKIE -> cookies(request, name);
            case QUERY -> QueryString.values(request.query(), name);
            default -> List.of();
        };
        return sent.size() > 1 || sent.stream().anyMatch(value -> !value.isBlank());
    }

    private static @Nullable String only(List<String> values) {
        return values.size() == 1 ? values.get(0) : null;
    }

    private static List<String> cookies(WebRequest request, String name) {
        return request.cookies().stream()
                .filter(cookie -> cookie.getName().equals(name))
                .map(HttpCookie::getValue)
                .toList();
    }
}

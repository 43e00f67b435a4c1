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
    USER('u', Form.WORD, Owner.CALLER, Fact.USER, known((context, name) -> principal(context))),
    /** The name of the principal; missing if there is none. The same budget as that of a user. */
    PRINCIPAL('u', Form.WORD, Owner.CALLER, Fact.USER, known((context, name) -> principal(context))),
    /** The client's address. */
    IP('a', Form.WORD, Owner.CALLER, Fact.ADDRESS, known((context, name) -> null)),
    /** The pattern of the handler. */
    ENDPOINT('e', Form.WORD, Owner.ANYBODY, Fact.ENDPOINT, known((context, name) -> null)),
    /** The id of the route, where there are routes. */
    ROUTE(
            'r',
            Form.WORD,
            Owner.ANYBODY,
            Fact.ROUTE,
            known((context, name) -> context.request().route())),
    /** The HTTP method. */
    METHOD('m', Form.WORD, Owner.ANYBODY, Fact.METHOD, known((context, name) -> null)),
    /** The id of the existing session, not the id that the client sends. */
    SESSION(
            's',
            Form.WORD,
            Owner.CALLER,
            Fact.SESSION,
            known((context, name) -> context.request().sessionId())),
    /** A header that the request has once. */
    HEADER(
            'h',
            Form.NAMED,
            Owner.CALLER,
            Fact.HEADER,
            sentOnce((context, name) -> context.request().headers(name))),
    /** A query parameter; the body is not read. */
    QUERY(
            'q',
            Form.NAMED,
            Owner.ANYBODY,
            Fact.QUERY,
            new Value(
                    (context, name) -> QueryString.only(context.request().query(), name),
                    (context, name) -> QueryString.values(context.request().query(), name))),
    /** A cookie that the request has once. */
    COOKIE('c', Form.NAMED, Owner.CALLER, Fact.COOKIE, sentOnce((context, name) -> cookies(context.request(), name))),
    /** A path variable. */
    PATH('p', Form.NAMED, Owner.ANYBODY, Fact.PATH_VARIABLE, known(RequestContext::pathVariable)),
    /** A claim of the caller's token. */
    CLAIM(
            'j',
            Form.NAMED,
            Owner.CALLER,
            Fact.CLAIM,
            known((context, name) -> Claims.of(context.request().principal(), name))),
    /** What a resolver of the application says; each has its own. */
    BEAN('b', Form.NAMED, Owner.CALLER_IF_KNOWN, Fact.BEAN, known((context, name) -> null)),
    /** The value of an expression, which reads other facts; each has its own. */
    EXPRESSION('x', Form.EXPRESSION, Owner.CALLER_IF_KNOWN, null, known((context, name) -> null));

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
    private final Value value;

    /**
     * How a request's value is read.
     *
     * @param of the value; {@code null} if there is none
     * @param sent what the client has sent where the value would be
     */
    private record Value(
            BiFunction<RequestContext, String, @Nullable String> of,
            BiFunction<RequestContext, String, List<String>> sent) {}

    KeyKind(char letter, Form form, Owner owner, @Nullable Fact fact, Value value) {
        this.letter = letter;
        this.form = form;
        this.owner = owner;
        this.fact = fact;
        this.value = value;
    }

    /** What the application says: no client can send something in its place that makes it missing. */
    private static Value known(BiFunction<RequestContext, String, @Nullable String> value) {
        return new Value(value, (context, name) -> List.of());
    }

    /** What the client has sent, if that is one value. */
    private static Value sentOnce(BiFunction<RequestContext, String, List<String>> sent) {
        return new Value(
                (context, name) -> {
                    List<String> values = sent.apply(context, name);
                    return values.size() == 1 ? values.get(0) : null;
                },
                sent);
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
        return value.of.apply(context, name);
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
        List<String> sent = value.sent.apply(context, name);
        return sent.size() > 1 || sent.stream().anyMatch(value -> !value.isBlank());
    }

    private static List<String> cookies(WebRequest request, String name) {
        return request.cookies().stream()
                .filter(cookie -> cookie.getName().equals(name))
                .map(HttpCookie::getValue)
                .toList();
    }
}

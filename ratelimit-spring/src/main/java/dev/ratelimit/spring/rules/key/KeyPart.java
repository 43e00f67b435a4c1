package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A property of a request that is part of its key. Parts are equal if their texts are. Immutable. */
public final class KeyPart {

    private final KeyKind kind;
    private final String text;

    /** What logs and errors show in place of the text. */
    private final String shown;

    private final Reads reads;
    private final Function<RequestContext, @Nullable String> value;
    private final Predicate<RequestContext> uncertain;

    private KeyPart(String text, RequestExpression expression) {
        this.kind = KeyKind.EXPRESSION;
        this.text = text;
        this.shown = expression.toString();
        this.reads = expression.reads();
        this.value = expression::key;
        this.uncertain = expression::isUncertain;
    }

    private KeyPart(KeyKind kind, String name, Function<RequestContext, @Nullable String> value) {
        this.kind = kind;
        this.text = name.isEmpty() ? kind.toString() : kind + ":" + name;
        this.shown = text;
        this.reads = kind.reads(name);
        this.value = value;
        this.uncertain = context -> kind.isHidden(context, name);
    }

    /** A part that is written as a word. */
    static KeyPart of(KeyKind kind) {
        return new KeyPart(kind, "", context -> kind.valueOf(context, ""));
    }

    /** A part with a name, such as that of a header. */
    static KeyPart of(KeyKind kind, String name) {
        String shown = kind == KeyKind.HEADER ? name.toLowerCase(Locale.ROOT) : name;
        return new KeyPart(kind, shown, context -> kind.valueOf(context, name));
    }

    static KeyPart bean(Resolver resolver) {
        return new KeyPart(KeyKind.BEAN, resolver.bean(), resolver::valueOf);
    }

    static KeyPart expression(String text, Parameters parameters) {
        return new KeyPart(text, RequestExpression.ofRequest(text, parameters));
    }

    public KeyKind kind() {
        return kind;
    }

    /**
     * Appends the request's value.
     *
     * @return whether there is one; if not, nothing was appended
     */
    public boolean appendTo(KeyEncoder key, RequestContext context) {
        switch (kind) {
            case IP -> context.appendAddress(key);
            case ENDPOINT -> context.endpoint().appendTo(key);
            case METHOD -> {
                String method = HttpMethods.seenAs(context.request().method());
                key.append(kind.letter(), HttpMethods.ALL.contains(method) ? method : "other");
            }
            case ROUTE -> {
                String route = value.apply(context);
                if (route == null) {
                    return false;
                }
                key.append(kind.letter(), route);
            }
            case USER -> {
                if (!key.appendIdentity(kind.letter(), value.apply(context))) {
                    context.appendAddress(key);
                }
            }
            default -> {
                return key.appendIdentity(kind.letter(), value.apply(context));
            }
        }
        return true;
    }

    /** Whether the value is missing although the client has sent something in its place, which the application may read. */
    boolean isUncertain(RequestContext context) {
        return uncertain.test(context);
    }

    /**
     * Appends a configured value as if a request had it, for comparison.
     *
     * @return whether this part can have the value
     */
    public boolean appendTo(KeyEncoder key, String written) {
        return kind != KeyKind.IP && !kind.isOfTarget() && key.appendIdentity(kind.letter(), written);
    }

    /** Whether the value belongs to the caller, so that showing its budget reveals nothing about others. */
    public boolean identifiesCaller(RequestContext context) {
        return switch (kind.owner()) {
            case CALLER -> true;
            case CALLER_IF_KNOWN -> context.request().principal() != null;
            case ANYBODY -> false;
        };
    }

    /** The name of the header that has the value, in lower case; {@code null} if the value is not in a header. */
    public @Nullable String header() {
        return nameIf(KeyKind.HEADER);
    }

    /** The name of the cookie that has the value; {@code null} if the value is not in a cookie. */
    public @Nullable String cookie() {
        return nameIf(KeyKind.COOKIE);
    }

    /** The name of the path variable that has the value; {@code null} if the value is not in the path. */
    public @Nullable String pathVariable() {
        return nameIf(KeyKind.PATH);
    }

    private @Nullable String nameIf(KeyKind wanted) {
        return kind == wanted ? text.substring(text.indexOf(':') + 1) : null;
    }

    /** Whether the value is the name of the caller. */
    public boolean isUser() {
        return kind.isUser();
    }

    /** Whether the value may be unknown before Spring Security has run. */
    boolean needsSecurity() {
        return kind.needsSecurity() || needsPrincipal();
    }

    /** Whether the value depends on who the caller is, which is unknown before Spring Security has run. */
    public boolean needsPrincipal() {
        return reads.includeCaller();
    }

    /** What the value depends on; without what stands for it if it is missing. */
    Reads reads() {
        return reads;
    }

    /** The names of the method's parameters that the value depends on; with any, it is known when they are bound. */
    Set<String> arguments() {
        return reads.names(Fact.ARGUMENT);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KeyPart same && same.text.equals(text);
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

package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import dev.ratelimit.spring.rules.text.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.util.ClassUtils;

/** Parses keys of the configuration and of annotations. */
public final class KeyParser {

    private static final String CLAIMS = "org.springframework.security.oauth2.core.ClaimAccessor";
    private static final String ALL = "user, principal, ip, endpoint, method, session, header:NAME, query:NAME, "
            + "cookie:NAME, path:NAME, claim:NAME, bean:NAME or an expression that starts with # (in quotes)";

    private static final List<String> NAMES = List.of(
            "user",
            "principal",
            "ip",
            "endpoint",
            "method",
            "session",
            "header",
            "query",
            "cookie",
            "path",
            "claim",
            "bean");

    private static final Set<String> NAMED = Set.of("header", "query", "cookie", "path", "claim", "bean");

    private final Resolvers resolvers;

    public KeyParser(Resolvers resolvers) {
        this.resolvers = resolvers;
    }

    /**
     * Parses the parts of a key.
     *
     * @param texts one part each, or several separated by commas
     * @throws IllegalArgumentException if a part is unknown or written twice
     */
    BudgetKey parse(List<String> texts, MissingKey missing) {
        return parse(texts, missing, Parameters.NONE);
    }

    /**
     * Parses the parts of a key that may depend on the arguments of a method.
     *
     * @param texts one part each, or several separated by commas
     * @throws IllegalArgumentException if a part is unknown or written twice
     */
    public BudgetKey parse(List<String> texts, MissingKey missing, Parameters parameters) {
        List<KeyPart> parts = new ArrayList<>();
        for (String text : texts.isEmpty() ? List.<String>of() : split(String.join(",", texts))) {
            KeyPart part = part(text.strip(), parameters);
            if (parts.contains(part)) {
                throw new IllegalArgumentException(Quotation.of(part.toString()) + " is written twice; write it once");
            }
            parts.add(part);
        }
        return new BudgetKey(parts, missing);
    }

    /** Splits at commas, except in brackets and quotes of an expression. */
    private static List<String> split(String text) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        boolean quoted = false;
        int from = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\'') {
                quoted = !quoted;
            } else if (!quoted && "([{".indexOf(c) >= 0) {
                depth++;
            } else if (!quoted && ")]}".indexOf(c) >= 0) {
                depth--;
            } else if (!quoted && depth == 0 && c == ',') {
                parts.add(text.substring(from, i));
                from = i + 1;
            }
        }
        parts.add(text.substring(from));
        return parts;
    }

    private KeyPart part(String text, Parameters parameters) {
        if (text.startsWith("#")) {
            return KeyParts.expression(text, parameters);
        }
        int colon = text.indexOf(':');
        if (colon >= 0) {
            return named(
                    text, text.substring(0, colon), text.substring(colon + 1).strip());
        }
        return switch (text) {
            case "user" -> KeyParts.USER;
            case "principal" -> KeyParts.principal();
            case "ip" -> KeyParts.IP;
            case "endpoint" -> KeyParts.ENDPOINT;
            case "method" -> KeyParts.METHOD;
            case "session" -> KeyParts.session();
            default -> throw noPart(text);
        };
    }

    private KeyPart named(String text, String kind, String name) {
        if (!NAMED.contains(kind)) {
            throw noPart(text);
        }
        if (name.isEmpty()) {
            throw new IllegalArgumentException(Quotation.of(text) + " has no name; write " + kind + ":NAME");
        }
        return switch (kind) {
            case "header" -> KeyParts.header(token(text, name));
            case "cookie" -> KeyParts.cookie(token(text, name));
            case "query" -> KeyParts.query(name);
            case "path" -> KeyParts.path(name);
            case "claim" -> claim(name);
            default -> KeyParts.bean(name, resolvers.key(name));
        };
    }

    private static String token(String text, String name) {
        if (!Tokens.isToken(name)) {
            throw new IllegalArgumentException(
                    Quotation.of(text)
                            + " is not a valid name of a header or cookie; write letters, digits and hyphens, such as header:X-Api-Key");
        }
        return name;
    }

    private static KeyPart claim(String name) {
        if (!ClassUtils.isPresent(CLAIMS, KeyParser.class.getClassLoader())) {
            throw new IllegalArgumentException(Quotation.of("claim:" + name)
                    + " needs a dependency; add spring-boot-starter-security-oauth2-resource-server or -client");
        }
        return KeyParts.claim(name);
    }

    private static IllegalArgumentException noPart(String text) {
        String kind = text.contains(":") ? text.substring(0, text.indexOf(':')) : text;
        return new IllegalArgumentException(
                "unknown key part " + Quotation.of(text) + Spelling.hint(kind, NAMES) + "; write " + ALL);
    }
}

package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import dev.ratelimit.spring.rules.text.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.springframework.util.ClassUtils;

/** Parses keys of the configuration and of annotations. */
public final class KeyParser {

    private static final String CLAIMS = "org.springframework.security.oauth2.core.ClaimAccessor";

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
            return KeyPart.expression(text, parameters);
        }
        int colon = text.indexOf(':');
        KeyKind kind = KeyKind.of(colon < 0 ? text : text.substring(0, colon), colon >= 0);
        if (kind == null) {
            throw noPart(text);
        }
        return colon < 0
                ? KeyPart.of(kind)
                : named(text, kind, text.substring(colon + 1).strip());
    }

    private KeyPart named(String text, KeyKind kind, String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException(Quotation.of(text) + " has no name; write " + kind + ":NAME");
        }
        return switch (kind) {
            case HEADER, COOKIE -> KeyPart.of(kind, token(text, name));
            case CLAIM -> claim(name);
            case BEAN -> KeyPart.bean(resolvers.key(name));
            default -> KeyPart.of(kind, name);
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
        return KeyPart.of(KeyKind.CLAIM, name);
    }

    private static IllegalArgumentException noPart(String text) {
        String kind = text.contains(":") ? text.substring(0, text.indexOf(':')) : text;
        return new IllegalArgumentException("unknown key part " + Quotation.of(text)
                + Spelling.hint(kind, KeyKind.words()) + "; write " + KeyKind.all());
    }
}

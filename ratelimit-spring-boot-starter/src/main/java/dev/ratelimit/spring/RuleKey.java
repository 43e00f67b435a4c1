package dev.ratelimit.spring;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whose budget a request is charged to: some of its properties, put together. Without any, all share one.
 *
 * <p>Values come from clients: {@link KeyEncoder} sees to it that no value can pass for another, and that none costs much.
 *
 * @param parts the properties
 * @param missing what becomes of a request that has no value for one
 */
public record RuleKey(List<KeyPart> parts, MissingKey missing) {

    /** One budget for all. */
    public static final RuleKey SHARED = new RuleKey(List.of(), MissingKey.IP);

    /** Copies the list. */
    public RuleKey {
        parts = List.copyOf(parts);
    }

    /** Whether the endpoint has to be known. */
    public boolean needsEndpoint() {
        // asked for each request: no stream
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).needsEndpoint()) {
                return true;
            }
        }
        return false;
    }

    /** Whether it can be told only after Spring Security has run. */
    public boolean needsSecurity() {
        return parts.stream().anyMatch(KeyPart::needsSecurity);
    }

    /** Whether it cannot be told before Spring Security has run. */
    public boolean needsPrincipal() {
        return parts.stream().anyMatch(KeyPart::needsPrincipal);
    }

    /** Whether the budget is the caller's own, so that telling what is left tells nothing of others. */
    public boolean isOwn(Call call) {
        for (int i = 0; i < parts.size(); i++) {
            KeyPart part = parts.get(i);
            // what all share who have no value is nobody's own
            if (part.isOwn(call) && (missing != MissingKey.SHARED || part.appendTo(call.newKey(), call))) {
                return true;
            }
        }
        return false;
    }

    /** The key of a request, at most 64 bytes long; {@code null} when it lacks a part that has to be there. */
    public @Nullable String of(Call call) {
        if (parts.isEmpty()) {
            return "";
        }
        KeyEncoder key = call.newKey();
        for (int i = 0; i < parts.size(); i++) {
            if (!parts.get(i).appendTo(key, call) && !appendMissing(key, call)) {
                return null;
            }
        }
        return key.toString();
    }

    private boolean appendMissing(KeyEncoder key, Call call) {
        switch (missing) {
            case IP -> call.appendAddress(key);
            case SHARED -> key.appendShared();
            case SKIP, REJECT -> {
                return false;
            }
        }
        return true;
    }

    /** For people: {@code by user, endpoint}. */
    @Override
    public String toString() {
        return parts.isEmpty()
                ? "for all together"
                : "by " + parts.stream().map(Object::toString).collect(Collectors.joining(", "));
    }
}

package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whose budget a request is charged to, identified by some of its properties. Without parts, all requests share one
 * budget.
 *
 * <p>Values come from clients: {@link KeyEncoder} ensures that no value can impersonate another and that none is
 * expensive.
 *
 * @param parts the properties
 * @param missing what happens to a request without a value for a part
 */
public record BudgetKey(List<KeyPart> parts, MissingKey missing) {

    /** One budget for all requests. */
    static final BudgetKey SHARED = new BudgetKey(List.of(), MissingKey.IP);

    /** Copies the list. */
    public BudgetKey {
        parts = List.copyOf(parts);
    }

    /** Whether each caller's requests are charged to the budget of all callers. */
    public boolean isShared() {
        return parts.stream().allMatch(part -> part.kind().isOfTarget());
    }

    /** Whether the key may need Spring Security to have run. */
    public boolean needsSecurity() {
        return parts.stream().anyMatch(KeyPart::needsSecurity);
    }

    /** Whether the key is unknown before Spring Security has run. */
    public boolean needsPrincipal() {
        return parts.stream().anyMatch(KeyPart::needsPrincipal);
    }

    /** What the key depends on, also the address that stands for a missing part. */
    public Reads reads() {
        Reads reads = Reads.NOTHING;
        for (KeyPart part : parts) {
            reads = reads.and(part.reads());
            boolean address = part.kind() == KeyKind.USER
                    || (missing == MissingKey.IP && !part.kind().isNeverMissing());
            reads = address ? reads.and(Reads.of(Fact.ADDRESS)) : reads;
        }
        return reads;
    }

    /** The names of the method's parameters that the key depends on. */
    public Set<String> arguments() {
        return parts.stream().flatMap(part -> part.arguments().stream()).collect(Collectors.toSet());
    }

    /** Whether the budget belongs to the caller alone, so that showing it reveals nothing about others. */
    public boolean identifiesCaller(RequestContext context) {
        for (int i = 0; i < parts.size(); i++) {
            KeyPart part = parts.get(i);
            // the budget of all callers without a value belongs to nobody
            if (part.identifiesCaller(context)
                    && (missing != MissingKey.SHARED || part.appendTo(context.newKey(), context))) {
                return true;
            }
        }
        return false;
    }

    /** The key of a request, at most 64 bytes long; {@code null} if the request lacks a required part. */
    public @Nullable String of(RequestContext context) {
        if (parts.isEmpty()) {
            return "";
        }
        if (parts.size() == 1 && parts.get(0).kind() == KeyKind.ENDPOINT) {
            return context.endpoint().key();
        }
        KeyEncoder key = context.newKey();
        for (int i = 0; i < parts.size(); i++) {
            if (!append(parts.get(i), key, context)) {
                return null;
            }
        }
        return key.toString();
    }

    /** The first part that the request has no value for; {@code null} if it has all of them. */
    public @Nullable KeyPart missingPart(RequestContext context) {
        for (KeyPart part : parts) {
            if (!part.appendTo(context.newKey(), context)) {
                return part;
            }
        }
        return null;
    }

    /**
     * Appends one of the parts, or what stands for it.
     *
     * @return false if the request lacks it and is not charged
     */
    public boolean append(KeyPart part, KeyEncoder key, RequestContext context) {
        return part.appendTo(key, context) || appendMissing(part, key, context);
    }

    private boolean appendMissing(KeyPart part, KeyEncoder key, RequestContext context) {
        switch (missing) {
            case IP -> context.appendAddress(key);
            case SHARED -> key.appendShared();
            case SKIP -> {
                // nobody may avoid a limit by hiding the key
                if (!part.isUncertain(context)) {
                    return false;
                }
                context.appendAddress(key);
            }
            case REJECT -> {
                return false;
            }
        }
        return true;
    }

    /** For logs: what happens if no request has a value for a part. */
    public String ifAlwaysMissing() {
        return switch (missing) {
            case IP -> "callers are identified by their address instead";
            case SHARED -> "all callers share one budget";
            case SKIP -> "it limits nobody";
            case REJECT -> "it refuses every request";
        };
    }

    /** For logs: {@code by user, endpoint}. */
    @Override
    public String toString() {
        return parts.isEmpty()
                ? "shared by all callers"
                : "by " + parts.stream().map(Object::toString).collect(Collectors.joining(", "));
    }
}

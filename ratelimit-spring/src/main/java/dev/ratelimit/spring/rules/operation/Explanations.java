package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.PlainKey;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What would become of requests under the rules in force. Takes nothing. Thread-safe. */
public record Explanations(RequestRules rules, RateLimitStore store, KeyDisplay keys, OverrideReport overrides) {

    /**
     * Describes what would become of a request, for JSON.
     *
     * @param before the request before Spring Security; {@code null} if all rules apply at once
     * @param after the request after Spring Security
     * @param named the policies that its route names, which are charged last; empty for none
     * @param plain whether to show keys as their plain values, not as hashes
     * @throws IllegalArgumentException if the client's address is none
     */
    public Map<String, Object> of(@Nullable WebRequest before, WebRequest after, List<String> named, boolean plain) {
        IpAddress unused = PlainKey.address(Objects.toString(after.remoteAddress()));
        return new Explanation(rules.inForce(), store, overrides).of(before, after, named, keys, plain);
    }
}

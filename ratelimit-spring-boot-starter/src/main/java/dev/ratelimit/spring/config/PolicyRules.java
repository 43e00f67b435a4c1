package dev.ratelimit.spring.config;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RetryJitter;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleKey;
import dev.ratelimit.spring.RuleMatch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes rules of the policies of the configuration. */
public final class PolicyRules {

    private PolicyRules() {}

    /**
     * The rules of all policies that are not off, the most specific first.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static List<Rule> of(Map<String, PolicyProperties> policies) {
        List<Rule> rules = new ArrayList<>();
        policies.forEach((name, properties) -> {
            Rule rule = new Parser(name, properties).rule();
            if (properties.mode() != Mode.OFF) {
                rules.add(rule);
            }
        });
        rules.sort(Comparator.comparingInt((Rule rule) -> rule.key().size()).reversed());
        return List.copyOf(rules);
    }

    private record Parser(String name, PolicyProperties properties) {

        Rule rule() {
            List<Limit> limits = limits();
            Policy policy = checked("", name, () -> new Policy(name, limits));
            PolicyProperties.Match match = properties.match();
            RuleMatch ruleMatch = new RuleMatch(
                    checkedPaths("paths", match.paths()),
                    checkedPaths("except-paths", match.exceptPaths()),
                    checkedMethods(match.methods()),
                    match.annotated());
            RuleKey key = checked("key", String.join(", ", properties.key()), () -> RuleKey.parse(properties.key()));
            PolicyProperties.Jitter jitter = properties.retryJitter();
            RetryJitter retryJitter = checked(
                    "retry-jitter",
                    jitter.min() + " to " + jitter.max(),
                    () -> new RetryJitter(jitter.min(), jitter.max()));
            checkNumbers(limits);
            return new Rule(policy, ruleMatch, key, properties.permits(), retryJitter);
        }

        private List<Limit> limits() {
            List<String> texts = properties.limit();
            if (texts == null || texts.isEmpty()) {
                throw mistake("limit", null, "a policy needs a limit; write 10/second, 100/minute or 1000/hour");
            }
            String written = String.join("; ", texts);
            List<Rate> rates = checked("limit", written, () -> Rate.parseAll(written));
            Algorithm algorithm =
                    checked("algorithm", properties.algorithm(), () -> Algorithm.named(properties.algorithm()));
            if (rates.size() > 1 && properties.burst() != null) {
                throw mistake(
                        "burst",
                        properties.burst(),
                        "burst is for a policy of one limit, and this one has " + rates.size()
                                + "; make a policy of each");
            }
            LimitOptions options = new LimitOptions(
                    properties.burst(),
                    properties.refill(),
                    properties.align(),
                    properties.zone(),
                    properties.rounding());
            String blamed = Objects.requireNonNullElse(algorithm.foreignOption(options), "limit");
            String value = blamed.equals("limit") ? written : null;
            return checked(
                    blamed,
                    value,
                    () -> rates.stream()
                            .map(rate -> algorithm.limit(rate, options))
                            .toList());
        }

        private void checkNumbers(List<Limit> limits) {
            long most = limits.stream().mapToLong(Limit::capacity).min().orElseThrow();
            long permits = properties.permits();
            if (permits < 0 || permits > most) {
                throw mistake(
                        "permits",
                        permits,
                        "permits must be from 0 to " + most + ", the most that can be had at once, but was " + permits);
            }
            if (properties.maxKeys() < 1) {
                throw mistake(
                        "max-keys",
                        properties.maxKeys(),
                        "max-keys must be at least 1 but was " + properties.maxKeys());
            }
        }

        private List<String> checkedPaths(String property, List<String> paths) {
            for (String path : paths) {
                checked("match." + property, path, () -> new RuleMatch(List.of(path), List.of(), List.of(), false));
            }
            return paths;
        }

        private List<String> checkedMethods(List<String> methods) {
            for (String method : methods) {
                if (!RuleMatch.METHODS.contains(RuleMatch.methodOf(method.strip()))) {
                    throw mistake(
                            "match.methods",
                            method,
                            "'" + method + "' is no method; write GET, POST, PUT, PATCH, "
                                    + "DELETE, OPTIONS or TRACE");
                }
            }
            return methods;
        }

        private <T> T checked(String property, @Nullable String written, Supplier<T> parse) {
            try {
                return parse.get();
            } catch (IllegalArgumentException e) {
                throw mistake(property, written, String.valueOf(e.getMessage()));
            }
        }

        private RateLimitConfigurationException mistake(String property, @Nullable Object written, String reason) {
            String where = "ratelimit.policies." + name + (property.isEmpty() ? "" : "." + property);
            return new RateLimitConfigurationException(where, written == null ? null : written.toString(), reason);
        }
    }
}

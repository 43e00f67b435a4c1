package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.request.Reads;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the rules of a stage before there is a request.
 *
 * @param any whether there are any
 * @param byEndpoint whether the endpoint must be known to tell which of them apply to it, or whether it is exempt
 * @param reads what they and the exemptions depend on
 */
public record StageRules(boolean any, boolean byEndpoint, Reads reads) {

    /** No rules. */
    public static final StageRules NONE = new StageRules(false, false, Reads.NOTHING);

    /**
     * Compares the rules of endpoints at a stage.
     *
     * @param stage {@code null} for all stages at once
     * @param anywhere those of endpoints without annotations
     * @param own those of each endpoint with annotations
     */
    public static StageRules of(
            @Nullable Stage stage, EndpointRules anywhere, Collection<EndpointRules> own, Exemptions exemptions) {
        List<Rule> all = Stream.concat(Stream.of(anywhere), own.stream())
                .flatMap(rules -> rules.at(stage).stream())
                .toList();
        boolean early = stage == Stage.BEFORE_SECURITY;
        List<Rule> common = anywhere.at(stage);
        boolean byEndpoint = own.stream()
                .anyMatch(rules -> !rules.at(stage).equals(common)
                        || (rules.exempt() && !(early && all.isEmpty()))
                        || (!early && !rules.call().isEmpty()));
        Reads reads = early && all.isEmpty() ? Reads.NOTHING : exemptions.reads(!early);
        for (Rule rule : all) {
            reads = reads.and(rule.reads());
        }
        return new StageRules(!all.isEmpty(), byEndpoint, reads);
    }
}

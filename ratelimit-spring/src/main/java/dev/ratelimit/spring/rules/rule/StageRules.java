package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the rules of a stage before there is a request.
 *
 * @param any whether there are any
 * @param byEndpoint whether the endpoint must be known to tell which of them apply to it, or whether it is exempt
 * @param reads what they and the exemptions depend on
 * @param exemptionsFetch what of that the exemptions read and a web stack may have to fetch
 * @param fetch the same of those rules that read something of the kind; by identity
 * @param annotated the names of the policies that some endpoint has a rule of its own of
 */
public record StageRules(
        boolean any,
        boolean byEndpoint,
        Reads reads,
        Reads exemptionsFetch,
        IdentityHashMap<Rule, Reads> fetch,
        Set<String> annotated) {

    /** No rules. */
    public static final StageRules NONE =
            new StageRules(false, false, Reads.NOTHING, Reads.NOTHING, new IdentityHashMap<>(), Set.of());

    /**
     * Compares the rules of endpoints at a stage.
     *
     * @param stage {@code null} for all stages at once
     * @param anywhere those of endpoints without annotations
     * @param own those of each endpoint with annotations
     * @param addressHeaders the headers that may have the address of a client
     */
    public static StageRules of(
            @Nullable Stage stage,
            EndpointRules anywhere,
            Collection<EndpointRules> own,
            Exemptions exemptions,
            List<String> addressHeaders) {
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
        Reads exemptionsFetch = reads.toFetch();
        for (Rule rule : all) {
            reads = reads.and(rule.reads());
        }
        Set<String> annotated = all.stream()
                .filter(rule -> !common.contains(rule))
                .map(rule -> rule.policy().name())
                .collect(Collectors.toUnmodifiableSet());
        return new StageRules(
                !all.isEmpty(),
                byEndpoint,
                withAddress(reads, addressHeaders),
                exemptionsFetch,
                fetchOf(all),
                annotated);
    }

    /** What a web stack may have to fetch for each of these rules, by identity, without those that need nothing of the kind. */
    public static IdentityHashMap<Rule, Reads> fetchOf(Collection<Rule> rules) {
        IdentityHashMap<Rule, Reads> fetch = new IdentityHashMap<>();
        for (Rule rule : rules) {
            Reads ofRule = rule.reads().toFetch();
            if (!ofRule.areNone()) {
                fetch.put(rule, ofRule);
            }
        }
        return fetch;
    }

    /** The same, with the headers that may have the address if that is read. */
    public static Reads withAddress(Reads reads, List<String> addressHeaders) {
        Reads all = reads;
        if (reads.include(Fact.ADDRESS)) {
            for (String header : addressHeaders) {
                all = all.and(Reads.of(Fact.HEADER, header));
            }
        }
        return all;
    }
}

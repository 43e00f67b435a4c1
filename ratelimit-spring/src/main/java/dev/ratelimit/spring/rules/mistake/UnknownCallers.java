package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.rule.Exemptions;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Tells what depends on who the caller is, in an application that probably authenticates nobody, as sentences. */
final class UnknownCallers {

    private static final String UNKNOWN = ", but neither Spring Security nor a filter of the application authenticates"
            + " callers; unless the server does, ";

    private static final String NOBODY = "#principal is null for everybody, and nobody has a role";

    private UnknownCallers() {}

    /** About a rule; what a plan resolver reads is unknown. */
    static Stream<String> of(Rule rule) {
        List<String> sentences = new ArrayList<>();
        if (rule.key().parts().stream().anyMatch(UnknownCallers::isAlwaysMissing)) {
            sentences.add("is " + rule.key() + UNKNOWN + rule.key().ifAlwaysMissing());
        }
        rule.key().parts().stream()
                .filter(part -> part.needsPrincipal() && part.kind() == KeyKind.EXPRESSION)
                .forEach(part -> sentences.add("is by " + part + UNKNOWN + NOBODY));
        Condition when = rule.match().when();
        if (when != null && when.needsPrincipal()) {
            sentences.add("applies when " + when.written() + UNKNOWN + NOBODY);
        }
        if (rule.cost().needsPrincipal()) {
            sentences.add("takes " + rule.cost().written() + " permits each" + UNKNOWN + NOBODY);
        }
        return sentences.stream().map(sentence -> "Rate limit '" + rule.policy().name() + "' " + sentence);
    }

    /** About the condition of exempt requests. */
    static Stream<String> of(Exemptions exemptions) {
        return Stream.of(exemptions.when())
                .filter(Objects::nonNull)
                .filter(Condition::needsPrincipal)
                .map(when -> "ratelimit.exempt.when: " + when.written() + " is about the caller" + UNKNOWN + NOBODY);
    }

    /** An anonymous user has an address, and an expression may have a value for anonymous callers. */
    private static boolean isAlwaysMissing(KeyPart part) {
        return part.needsPrincipal() && part.kind() != KeyKind.USER && part.kind() != KeyKind.EXPRESSION;
    }
}

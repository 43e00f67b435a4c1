package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.Rate;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/** Finds names that look like those of properties, and that Spring Boot would ignore, or take for others. */
final class WrittenNames {

    private static final Logger log = LoggerFactory.getLogger(WrittenNames.class);

    private static final String ROOT = KnownProperties.ROOT.toString();
    private static final ConfigurationPropertyName POLICIES = KnownProperties.POLICIES;

    /** The place of a policy's name, and that of the name of a plan or an override. */
    private static final int POLICY = POLICIES.getNumberOfElements();

    private static final int KEY = POLICY + 2;

    /** The name of a policy, and that of a plan or an override, unless they are in brackets. */
    private static final Pattern NAMES = Pattern.compile("[^.\\[]+\\.[^.\\[]+(?:\\.(?<policy>[^.\\[]+)|\\[[^]]*])"
            + "(?:\\.(?i:plans|overrides)\\.(?<key>[^\\[].*?)(?:\\.limit|\\.burst)?|[.\\[].*)?");

    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9._-]+");

    /** Spring Boot's own; below others, somebody else may have policies. */
    private static final Set<String> PARENTS = Set.of("spring", "server", "management", "logging");

    private static final Set<String> OF_POLICIES = Stream.of(PolicyProperties.class.getRecordComponents())
            .map(component -> component.getName().toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());

    private static final Pattern LIKE_A_VARIABLE = Pattern.compile("RATE_?LIMIT_([A-Z0-9][A-Z0-9_]*)");

    private final List<Written> all;

    /** The names of policies without what separates their words, which variables do not have. */
    private final Set<String> policies;

    /** How each name of a policy, a plan or an override was written first. */
    private final Map<ConfigurationPropertyName, String> spellings = new HashMap<>();

    private boolean lost;

    WrittenNames(List<Written> all) {
        this.all = all;
        this.policies = all.stream()
                .filter(property -> POLICIES.isAncestorOf(property.name()) && !property.isVariable())
                .map(property -> property.words().get(POLICY))
                .collect(Collectors.toSet());
    }

    /**
     * Checks the name of each property.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    void check() {
        for (Written property : all) {
            if (property.isVariable()) {
                checkVariable(property);
            } else if (property.isSystemProperty() && property.isOurs() && property.type() == null) {
                checkUnknown(property, KnownProperties.elements(property.name()));
            } else {
                checkLikeAVariable(property);
            }
            checkPlace(property);
            if (POLICIES.isAncestorOf(property.name()) && (property.type() != null || !property.isVariable())) {
                checkIndent(property.name());
                checkKept(property.text());
                checkSpelling(property);
            }
        }
    }

    /**
     * Spring Boot ignores unknown variables. Others may use variables that begin with {@code RATELIMIT_}, so only those of
     * policies stop the start, and those with a name similar to another property cause a warning.
     */
    private void checkVariable(Written variable) {
        List<String> words = variable.words();
        boolean apart = words.size() > 2 && (words.get(0) + words.get(1)).equals(ROOT);
        List<String> below = words.subList(apart ? 2 : 1, words.size());
        if (apart && KnownProperties.isProperty(below, policies)) {
            // many programs have their own variables there, so nothing is guessed
            String right = variable.text().replaceFirst("(?i)rate_limit", "RATELIMIT");
            report(isOfPolicies(below), variable, "Spring Boot reads " + right + "; rename it");
        } else if (words.get(0).equals(ROOT) && !below.isEmpty() && !KnownProperties.isProperty(below, policies)) {
            checkUnknown(variable, below);
        }
    }

    private static void checkUnknown(Written property, List<String> words) {
        KnownProperties.Unknown unknown = KnownProperties.firstUnknown(words);
        if (unknown == null) {
            return;
        }
        boolean ofPolicies = isOfPolicies(words);
        String near = unknown.near();
        String meant = ofPolicies ? unknown.closest() : near;
        boolean misspelt = "policies".equals(near) && unknown.rest().size() == words.size() && words.size() > 1;
        if (ofPolicies || near != null) {
            report(
                    ofPolicies || misspelt,
                    property,
                    "no property has this name; "
                            + (meant == null ? "correct it, or remove the variable" : "did you mean '" + meant + "'?"));
        }
    }

    /** Such a name is read only from the environment. In another source, a placeholder may refer to it. */
    private void checkLikeAVariable(Written property) {
        String text = property.isSystemProperty() ? property.text().toUpperCase(Locale.ROOT) : property.text();
        Matcher like = LIKE_A_VARIABLE.matcher(text);
        if (like.matches()) {
            List<String> words = List.of(like.group(1).toLowerCase(Locale.ROOT).split("_+"));
            if ((isOfPolicies(words) || KnownProperties.isProperty(words, policies))
                    && all.stream().noneMatch(other -> mayReferTo(String.join("", words), other))) {
                report(
                        isOfPolicies(words),
                        property,
                        "Spring Boot reads such a name only from the environment; write it with dots, as in"
                                + " ratelimit.policies.login.limit");
            }
        }
    }

    private static boolean mayReferTo(String joined, Written property) {
        return property.isOurs()
                && String.join("", KnownProperties.elements(property.name())).equals(joined)
                && property.value().contains("${");
    }

    private static boolean isOfPolicies(List<String> words) {
        return words.get(0).equals("policies");
    }

    private static void report(boolean stop, Written property, String reason) {
        if (stop) {
            throw new RateLimitConfigurationException(property.described(), null, reason);
        }
        log.warn("Rate limits do not read the {}: {}", property.described(), reason);
    }

    /** Policies below a group that is not ours limit nothing. */
    private void checkPlace(Written property) {
        List<String> words = property.words();
        int place = words.indexOf("policies");
        if (place < 0 || place == words.size() - 1 || POLICIES.isAncestorOf(property.name())) {
            return;
        }
        ConfigurationPropertyName own = POLICIES.append(property.name().subName(place + 1));
        String before = String.join("", words.subList(0, place));
        if (KnownProperties.typeOf(own) == null) {
            return;
        }
        if (place == 2 && PARENTS.contains(words.get(0)) && words.get(1).equals(ROOT)) {
            throw mistake(
                    property,
                    "this has no effect here; move ratelimit to the top level, out of '" + words.get(0) + "'");
        }
        // beside policies of ours, others may have theirs
        if (all.stream().noneMatch(other -> POLICIES.isAncestorOf(other.name()))) {
            if (place == 1 && Spelling.isNear(before, ROOT)) {
                throw mistake(property, "this has no effect; write " + own);
            }
            if (place == 0 || before.endsWith(ROOT) || PARENTS.contains(before)) {
                warnOfLost(property, own);
            }
        }
    }

    private static RateLimitConfigurationException mistake(Written property, String reason) {
        return new RateLimitConfigurationException(property.name().toString(), null, reason);
    }

    /** Somebody else may read it, so it does not stop the start. */
    private void warnOfLost(Written property, ConfigurationPropertyName own) {
        boolean limit = KnownProperties.typeOf(own) == PolicyProperties.class
                || KnownProperties.whole(own).getLastElement(Form.UNIFORM).equals("limit");
        if (!lost && limit && isLimit(property.value())) {
            lost = true;
            log.warn(
                    "{} looks like a rate limit, but no policy is read there, and there is none below ratelimit.policies."
                            + " Did you mean {}? ({})",
                    property.name(),
                    own,
                    property.origin());
        }
    }

    private static boolean isLimit(String value) {
        try {
            return !Rate.parseAll(value).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * A property of a policy in place of a policy's name is wrongly indented, unless it has properties of a policy
     * below it: a policy may be called 'free'.
     */
    private static void checkIndent(ConfigurationPropertyName name) {
        if (isOfPolicy(name, POLICY) && !isOfPolicy(name, POLICY + 1)) {
            String property = name.getElement(POLICY, Form.DASHED);
            throw new RateLimitConfigurationException(
                    POLICIES + "." + property,
                    null,
                    "'" + property + "' is a property of a policy, but is written where the name of a policy belongs;"
                            + " indent it below the policy's name");
        }
    }

    private static boolean isOfPolicy(ConfigurationPropertyName name, int place) {
        return name.getNumberOfElements() > place && OF_POLICIES.contains(name.getElement(place, Form.UNIFORM));
    }

    /** Without some of their characters, an override would apply to nobody, and two policies would become one. */
    private static void checkKept(String text) {
        Matcher names = NAMES.matcher(text);
        if (names.matches()) {
            checkKept(text, names.group("policy"));
            checkKept(text, names.group("key"));
        }
    }

    private static void checkKept(String text, @Nullable String name) {
        if (name != null && !KEPT.matcher(name).matches()) {
            throw new RateLimitConfigurationException(
                    text,
                    null,
                    "Spring Boot drops characters of " + Quotation.of(name) + "; write it in brackets: \"[" + name
                            + "]\"");
        }
    }

    /** Names that differ only in case or hyphens get the value that Spring Boot finds first, or some properties of both. */
    private void checkSpelling(Written property) {
        ConfigurationPropertyName name = property.name();
        if (property.type() != null) {
            checkSpelling(name.chop(POLICY + 1), POLICY, "rename one of them");
        }
        if (name.getNumberOfElements() > KEY && !property.isVariable()) {
            String group = name.getElement(KEY - 1, Form.UNIFORM);
            if (group.equals("plans")) {
                checkSpelling(name.chop(KEY + 1), KEY, "write them in brackets: ");
            } else if (group.equals("overrides")) {
                // may contain dots
                checkSpelling(name, KEY, "write them in brackets: ");
            }
        }
    }

    private void checkSpelling(ConfigurationPropertyName name, int from, String remedy) {
        if (name.chop(from + 1).isLastElementIndexed()) {
            // brackets keep a name as it is
            return;
        }
        String spelling = IntStream.range(from, name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                .collect(Collectors.joining("."));
        String other = spellings.putIfAbsent(name, spelling);
        if (other != null && !other.equals(spelling)) {
            throw new RateLimitConfigurationException(
                    name.chop(from) + "." + spelling,
                    null,
                    Quotation.of(spelling) + " and " + Quotation.of(other) + " are the same name to Spring Boot; "
                            + remedy + (remedy.endsWith(" ") ? "\"[" + spelling + "]\"" : ""));
        }
    }
}

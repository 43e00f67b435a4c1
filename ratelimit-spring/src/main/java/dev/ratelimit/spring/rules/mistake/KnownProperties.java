package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.text.Spelling;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;

/** The names under {@code ratelimit} that bind to a property, and their types. */
final class KnownProperties {

    static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("ratelimit");
    static final ConfigurationPropertyName POLICIES = ROOT.append("policies");

    private KnownProperties() {}

    /**
     * A name that no property has.
     *
     * @param known the names of the existing properties at its place; empty below a property that takes a value
     * @param deeper the names of those one level deeper, such as match.paths
     * @param rest the elements of the name, starting with the first unknown one
     */
    record Unknown(List<String> known, List<String> deeper, List<String> rest) {

        /** The property that was probably meant, written in its place or one level too high, or {@code null}. */
        @Nullable
        String meant() {
            String outdented = outdented();
            return outdented == null ? closest() : outdented;
        }

        /** The only property of this name one level deeper, or {@code null}. */
        private @Nullable String outdented() {
            List<String> same = deeper.stream()
                    .filter(name -> name.substring(name.indexOf('.') + 1)
                            .replace("-", "")
                            .equals(rest.get(0)))
                    .toList();
            return same.size() == 1 ? same.get(0) : null;
        }

        /** The property in its place that was probably meant, or {@code null}. */
        @Nullable
        String closest() {
            List<String> names =
                    known.stream().map(name -> name.replace("-", "")).toList();
            String closest = Spelling.closest(rest.get(0).replace("-", ""), names);
            if (closest == null) {
                // in variables, an underscore may separate words
                closest = Spelling.closest(String.join("", rest), names);
            }
            return closest == null ? null : known.get(names.indexOf(closest));
        }

        /** The closest name, if less than a third of the written one differs. */
        @Nullable
        String near() {
            String closest = closest();
            return closest != null
                            && Stream.of(rest.get(0), String.join("", rest))
                                    .anyMatch(written -> Spelling.isNear(written, closest.replace("-", "")))
                    ? closest
                    : null;
        }
    }

    /** The type of a property or a group, or {@code null} if there is none of this name. */
    static @Nullable Class<?> typeOf(ConfigurationPropertyName name) {
        if (!name.equals(ROOT) && !ROOT.isAncestorOf(name)) {
            return null;
        }
        ResolvableType type = ResolvableType.forClass(RateLimitProperties.class);
        List<String> elements = elements(name);
        for (int i = 0; i < elements.size(); i++) {
            type = below(type, elements, i);
            if (type == null) {
                return null;
            }
        }
        return type.toClass();
    }

    /** The list that contains the element, or else the name itself. */
    static ConfigurationPropertyName whole(ConfigurationPropertyName name) {
        return name.isLastElementIndexed() && typeOf(name.getParent()) == List.class ? name.getParent() : name;
    }

    /** Whether it is a group of properties, without a short form as policies and plans have one. */
    static boolean isGroup(Class<?> type) {
        return type == Map.class || (type.isRecord() && !hasShortForm(type));
    }

    /** Whether it may be written as its limit alone. */
    static boolean hasShortForm(Class<?> type) {
        return type == PolicyProperties.class || type == PolicyProperties.Plan.class;
    }

    /**
     * Whether Spring Boot reads a variable of these words, several of which may form one name, as a property with a value,
     * or as a policy.
     *
     * @param policies the names of policies that may consist of several words, without what separates these
     */
    static boolean isProperty(List<String> words, Set<String> policies) {
        return isProperty(ResolvableType.forClass(RateLimitProperties.class), words, policies);
    }

    private static boolean isProperty(ResolvableType type, List<String> words, Set<String> policies) {
        if (words.isEmpty()) {
            return !isGroup(type.toClass());
        }
        boolean named = type.toClass() == Map.class && type.getGeneric(1).toClass() == PolicyProperties.class;
        return IntStream.rangeClosed(1, words.size()).anyMatch(end -> {
            String name = String.join("", words.subList(0, end));
            ResolvableType below = end > 1 && named && !policies.contains(name) ? null : below(type, List.of(name), 0);
            return below != null && isProperty(below, words.subList(end, words.size()), policies);
        });
    }

    /** The unknown part of a name below the root, or {@code null} if there is a property of this name. */
    static @Nullable Unknown firstUnknown(List<String> elements) {
        ResolvableType type = ResolvableType.forClass(RateLimitProperties.class);
        for (int i = 0; i < elements.size(); i++) {
            ResolvableType below = below(type, elements, i);
            if (below == null) {
                return new Unknown(
                        components(type.toClass()).map(KnownProperties::nameOf).toList(),
                        components(type.toClass())
                                .flatMap(group -> components(group.getType())
                                        .map(component -> nameOf(group) + "." + nameOf(component)))
                                .toList(),
                        elements.subList(i, elements.size()));
            }
            type = below;
        }
        return null;
    }

    /** The elements after the root, in lower case and without hyphens. */
    static List<String> elements(ConfigurationPropertyName name) {
        return IntStream.range(ROOT.getNumberOfElements(), name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                .toList();
    }

    private static @Nullable ResolvableType below(ResolvableType type, List<String> elements, int place) {
        Class<?> group = type.toClass();
        if (group == Map.class) {
            // names of overrides may contain dots
            return type.getGeneric(1).toClass() == String.class && place < elements.size() - 1
                    ? type
                    : type.getGeneric(1);
        }
        String element = elements.get(place);
        if (group == List.class) {
            return element.matches("\\d+") ? type.getGeneric(0) : null;
        }
        return components(group)
                .filter(component ->
                        component.getName().toLowerCase(Locale.ROOT).equals(element))
                .map(component -> ResolvableType.forMethodReturnType(component.getAccessor()))
                .findFirst()
                .orElse(null);
    }

    private static Stream<RecordComponent> components(Class<?> type) {
        return type.isRecord() ? Stream.of(type.getRecordComponents()) : Stream.empty();
    }

    /** The component's name as a property. */
    static String nameOf(RecordComponent component) {
        return DataObjectPropertyName.toDashedForm(component.getName());
    }
}

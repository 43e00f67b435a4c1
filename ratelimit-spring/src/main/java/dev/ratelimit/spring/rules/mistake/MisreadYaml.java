package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.math.BigInteger;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;
import org.springframework.util.PropertyPlaceholderHelper;

/** Finds numbers and names that YAML reads as something else: 0401 as 257, 1:40 as 100, and on as true. */
final class MisreadYaml {

    private static final String TAGS = "^(?:[&!]\\S*\\s+)*";
    private static final String END = "(?=[\\s,\\]}]|$)";
    private static final Pattern OCTAL = Pattern.compile(TAGS + "(?<text>([-+]?)0[0_]*([1-7][0-7_]*))" + END);
    private static final Pattern BASE_60 = Pattern.compile(TAGS + "(?<text>[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)" + END);

    private static final Pattern NUMBER_OR_BOOLEAN = Pattern.compile("-?[0-9]+(?:\\.[0-9]+)?|true|false");
    private static final Pattern KEY =
            Pattern.compile("(?<![^\\s{,])(?<exact>[\"']\\[)?(?<text>[-+.\\w]+(?::[0-9]+)*)(?:][\"'])?\\s*:(?=\\s|$)");

    private MisreadYaml() {}

    /**
     * Checks the number as it is written in its file or, if there are placeholders in the value, in theirs.
     *
     * @throws RateLimitConfigurationException if YAML reads it as an octal number or in base 60
     */
    static void checkNumber(
            Environment environment, ConfigurationPropertyName name, @Nullable ConfigurationProperty property) {
        Object value = property == null ? null : property.getValue();
        if (value instanceof Number number) {
            checkNumber(name, WrittenText.of(Objects.requireNonNull(property)), number);
        } else if (value instanceof CharSequence text && text.toString().contains("${")) {
            new PropertyPlaceholderHelper("${", "}", ":", '\\', true).replacePlaceholders(text.toString(), key -> {
                checkNumber(environment, name, property(environment, key));
                return environment.getProperty(key);
            });
        }
    }

    private static void checkNumber(ConfigurationPropertyName name, String written, Number number) {
        Matcher octal = OCTAL.matcher(written);
        Matcher base60 = BASE_60.matcher(written);
        if (octal.find()) {
            String meant = octal.group(2).replace("+", "") + octal.group(3).replace("_", "");
            throw misread(name, octal, "an octal number, which is " + number + "; write " + meant);
        }
        if (base60.find()) {
            throw misread(name, base60, "a number in base 60, which is " + number + "; write " + number);
        }
    }

    private static RateLimitConfigurationException misread(
            ConfigurationPropertyName name, Matcher written, String reading) {
        String text = written.group("text");
        return new RateLimitConfigurationException(
                name.toString(), text, "YAML reads " + text + " as " + reading + ", or quote it");
    }

    private static @Nullable ConfigurationProperty property(Environment environment, String key) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(key, '.');
        return name.isEmpty()
                ? null
                : StreamSupport.stream(
                                ConfigurationPropertySources.get(environment).spliterator(), false)
                        .map(source -> source.getConfigurationProperty(name))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
    }

    /**
     * Checks the names of the policy, plan or override that the property belongs to.
     *
     * @throws RateLimitConfigurationException if YAML reads one of them as a number or a boolean of another text
     */
    static void checkNames(ConfigurationPropertyName name, ConfigurationProperty property) {
        // Spring Boot puts names in brackets that are not texts to YAML
        IntStream.range(1, name.getNumberOfElements())
                .filter(place -> name.chop(place + 1).isLastElementIndexed())
                .filter(place -> KnownProperties.typeOf(name.chop(place)) == Map.class)
                .mapToObj(place -> name.getElement(place, Form.ORIGINAL))
                .filter(key -> NUMBER_OR_BOOLEAN.matcher(key).matches())
                .forEach(key -> checkName(name, key, WrittenText.before(property)));
    }

    private static void checkName(ConfigurationPropertyName name, String key, String before) {
        String written = key;
        // the last one is the name of this property
        for (Matcher other = KEY.matcher(before); other.find(); ) {
            String text = other.group("text");
            if ((other.group("exact") == null ? reading(text) : text).equals(key)) {
                written = text;
            }
        }
        if (!written.equals(key)) {
            throw new RateLimitConfigurationException(
                    name.toString(),
                    null,
                    "YAML reads the name " + written + " as " + key + "; put quotes around it: \"" + written + "\"");
        }
    }

    /** The text of what YAML 1.1 reads. */
    private static String reading(String written) {
        String digits = written.replace("_", "").replaceFirst("^\\+", "");
        if (written.matches("(?i)yes|true|on")) {
            return "true";
        }
        if (written.matches("(?i)no|false|off")) {
            return "false";
        }
        if (digits.matches("-?0[0-7]+")) {
            return new BigInteger(digits, 8).toString();
        }
        if (digits.matches("-?0x[0-9a-fA-F]+")) {
            return new BigInteger(digits.replace("0x", ""), 16).toString();
        }
        if (digits.matches("-?0b[01]+")) {
            return new BigInteger(digits.replace("0b", ""), 2).toString();
        }
        if (digits.matches("[1-9][0-9]*(:[0-5]?[0-9])+")) {
            return Stream.of(digits.split(":"))
                    .map(BigInteger::new)
                    .reduce(
                            BigInteger.ZERO,
                            (sum, part) -> sum.multiply(BigInteger.valueOf(60)).add(part))
                    .toString();
        }
        return digits.matches("-?[0-9]*\\.[0-9]*([eE][-+]?[0-9]+)?") && digits.matches(".*[0-9].*")
                ? Double.toString(Double.parseDouble(digits))
                : digits.matches("-?[0-9]+") ? digits : written;
    }
}

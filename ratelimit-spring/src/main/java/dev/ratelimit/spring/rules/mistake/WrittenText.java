package dev.ratelimit.spring.rules.mistake;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.io.Resource;

/** The text of values in their files, which YAML may read as something else. */
final class WrittenText {

    private WrittenText() {}

    /** The rest of the line from the property's value on; empty if the value is not from a readable file. */
    static String of(ConfigurationProperty property) {
        return read(
                property,
                (lines, place) -> lines.stream()
                        .skip(place.getLine())
                        .findFirst()
                        .filter(line -> line.length() > place.getColumn())
                        .map(line -> line.substring(place.getColumn()))
                        .orElse(""));
    }

    /** The file up to the property's value; empty if the value is not from a readable file. */
    static String before(ConfigurationProperty property) {
        return read(property, (lines, place) -> {
            String whole = String.join("\n", lines.subList(0, Math.min(place.getLine(), lines.size())));
            String line = place.getLine() < lines.size() ? lines.get(place.getLine()) : "";
            return whole + "\n" + line.substring(0, Math.min(place.getColumn(), line.length()));
        });
    }

    private static String read(
            ConfigurationProperty property, BiFunction<List<String>, TextResourceOrigin.Location, String> part) {
        if (!(property.getOrigin() instanceof PropertySourceOrigin origin)
                || !(origin.getOrigin() instanceof TextResourceOrigin text)) {
            return "";
        }
        Resource file = text.getResource();
        TextResourceOrigin.Location place = text.getLocation();
        if (file == null || place == null) {
            return "";
        }
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(file.getInputStream(), StandardCharsets.UTF_8))) {
            return part.apply(lines.lines().toList(), place);
        } catch (IOException e) {
            return "";
        }
    }
}

package dev.ratelimit.spring.rules.text;

import java.util.Map;
import org.springframework.boot.json.JsonParser;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.json.JsonWriter;

/** Objects as JSON, by the library that the application has. */
public final class Json {

    private static final JsonParser PARSER = JsonParserFactory.getJsonParser();
    private static final JsonWriter<Object> WRITER = JsonWriter.standard();

    private Json() {}

    /** Writes an object. No control character is in the text as it is. */
    public static String write(Map<String, ?> object) {
        return WRITER.writeToString(object);
    }

    /**
     * Reads an object.
     *
     * @throws IllegalArgumentException if the text is something else
     */
    public static Map<String, Object> parse(String text) {
        return PARSER.parseMap(text);
    }
}

package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** One JSON object a line; the fields of objects within it have names such as {@code request.method}. */
final class JsonFormat implements LogFormat {

    private final JsonFactory json = new JsonFactory();
    private final FieldMapping mapping;

    /** By name; only of the lines that were read. */
    private final Map<String, Field> known = new HashMap<>();

    JsonFormat(FieldMapping mapping) {
        this.mapping = mapping;
    }

    @Override
    public void read(String line, RequestDraft draft) throws UnreadableLineException {
        try (JsonParser parser = json.createParser(ObjectReadContext.empty(), line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new UnreadableLineException("it is no JSON object");
            }
            object(parser, "", draft);
        } catch (JacksonException e) {
            throw new UnreadableLineException("it is no JSON object: " + e.getOriginalMessage());
        }
    }

    private void object(JsonParser parser, String prefix, RequestDraft draft) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = prefix + parser.currentName();
            JsonToken value = parser.nextToken();
            if (value == JsonToken.START_OBJECT) {
                object(parser, name + ".", draft);
            } else if (value == JsonToken.START_ARRAY) {
                parser.skipChildren();
            } else {
                Field field = known.computeIfAbsent(name, mapping::of);
                if (value != JsonToken.VALUE_NULL && field.kind() != Kind.OTHER) {
                    draft.set(field, parser.getString());
                }
            }
        }
    }

    @Override
    public Set<Field> fields() {
        return new HashSet<>(known.values());
    }

    @Override
    public Set<String> names() {
        return known.keySet();
    }
}

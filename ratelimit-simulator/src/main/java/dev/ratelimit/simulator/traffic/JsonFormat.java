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
    private final boolean trace;

    /** By name. */
    private final Map<String, Field> known = new HashMap<>();

    /** @param trace whether the lines are those of a trace: a time, a cost and a key */
    JsonFormat(FieldMapping mapping, boolean trace) {
        this.mapping = mapping;
        this.trace = trace;
    }

    private Field fieldOf(String name) {
        if (trace) {
            return switch (name) {
                case "t" -> Field.of(Kind.TIME);
                case "cost" -> Field.of(Kind.COST);
                case "key" -> Field.of(Kind.KEY);
                default -> Field.OTHER;
            };
        }
        return mapping.of(name);
    }

    @Override
    public void read(byte[] line, int from, int to, RequestDraft draft) {
        try (JsonParser parser = json.createParser(ObjectReadContext.empty(), line, from, to - from)) {
            if (parser.nextToken() == JsonToken.START_OBJECT) {
                object(parser, "", draft);
            } else {
                draft.fail("it is no JSON object");
            }
        } catch (JacksonException e) {
            draft.fail("it is no JSON object: " + e.getOriginalMessage());
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
                Field field = known.computeIfAbsent(name, this::fieldOf);
                if (value == JsonToken.VALUE_NULL || field.kind() == Kind.OTHER) {
                    continue;
                }
                if (trace && field.kind() == Kind.TIME) {
                    draft.setMillis(parser.getString());
                } else {
                    draft.set(field, parser.getString());
                }
            }
        }
    }

    /** Those of the lines that were read. */
    @Override
    public Set<Field> fields() {
        return new HashSet<>(known.values());
    }

    @Override
    public Set<String> names() {
        return known.keySet();
    }
}

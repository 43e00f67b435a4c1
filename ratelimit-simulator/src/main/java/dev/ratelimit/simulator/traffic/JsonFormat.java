package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.traffic.Field.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** One JSON object a line; the fields of objects within it have names such as {@code request.method}. */
final class JsonFormat implements LogFormat {

    private final JsonFactory json = new JsonFactory();
    private final FieldMapping mapping;
    private final Lines lines;
    private @Nullable Recording recording;

    /** By name. */
    private final Map<String, Field> known = new HashMap<>();

    /** What lines have. */
    enum Lines {
        /** What the application logs. */
        LOG,
        /** What the actuator has recorded. */
        RECORDING
    }

    private static final Map<String, Field> OF_RECORDINGS = Map.of(
            "time", Field.of(Kind.TIME),
            "method", Field.of(Kind.METHOD),
            "path", Field.of(Kind.PATH),
            "status", Field.of(Kind.STATUS),
            "duration_ns", new Field(Kind.DURATION, TimeUnit.NANOSECONDS.name()),
            "address", Field.of(Kind.ADDRESS),
            "user", Field.of(Kind.USER));

    JsonFormat(FieldMapping mapping, Lines lines) {
        this.mapping = mapping;
        this.lines = lines;
    }

    private Field fieldOf(String name) {
        return switch (lines) {
            case LOG -> mapping.of(name);
            case RECORDING -> OF_RECORDINGS.getOrDefault(name, Field.OTHER);
        };
    }

    @Override
    public boolean isHeading(byte[] line, int from, int to) {
        if (lines != Lines.RECORDING || !isBeginning(line, from, to)) {
            return false;
        }
        try {
            recording = Recording.read(line, from, to);
        } catch (JacksonException | NumberFormatException e) {
            throw new IllegalArgumentException("the first line of the recording cannot be read: " + e.getMessage(), e);
        }
        return true;
    }

    /** Whether a line is the first one of a recording. */
    static boolean isBeginning(byte[] line, int from, int to) {
        byte[] beginning = Recording.BEGINNING.getBytes(StandardCharsets.US_ASCII);
        return to - from > beginning.length
                && Arrays.equals(line, from, from + beginning.length, beginning, 0, beginning.length);
    }

    @Override
    public boolean mayHaveRecording() {
        return lines == Lines.RECORDING;
    }

    @Override
    public @Nullable Recording recording() {
        return recording;
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
            if (lines == Lines.RECORDING && value == JsonToken.START_OBJECT && name.equals("policies")) {
                draft.setCharges(RecordedCharge.read(parser));
            } else if (value == JsonToken.START_OBJECT) {
                object(parser, name + ".", draft);
            } else if (value == JsonToken.START_ARRAY) {
                parser.skipChildren();
            } else {
                Field field = known.computeIfAbsent(name, this::fieldOf);
                if (value == JsonToken.VALUE_NULL || field.kind() == Kind.OTHER) {
                    continue;
                }
                draft.set(field, parser.getString());
            }
        }
    }

    /** Those of the lines that were read; recordings have all of theirs, although some lines lack a few. */
    @Override
    public Set<Field> fields() {
        return lines == Lines.RECORDING ? Set.copyOf(OF_RECORDINGS.values()) : new HashSet<>(known.values());
    }

    @Override
    public boolean mayHaveOtherFields() {
        return lines == Lines.LOG;
    }

    @Override
    public Set<String> names() {
        return known.keySet();
    }
}

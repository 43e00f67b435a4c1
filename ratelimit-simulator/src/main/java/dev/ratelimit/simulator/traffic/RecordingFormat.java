package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** What the actuator has recorded: a first line about the policies, and then a JSON object a line. */
final class RecordingFormat implements LogFormat {

    private static final Map<String, Field> FIELDS = Map.of(
            "time", Field.of(Kind.TIME),
            "method", Field.of(Kind.METHOD),
            "path", Field.of(Kind.PATH),
            "status", Field.of(Kind.STATUS),
            "duration_ns", new Field(Kind.DURATION, TimeUnit.NANOSECONDS.name()),
            "address", Field.of(Kind.ADDRESS),
            "user", Field.of(Kind.USER));

    private static final TypeReference<Map<String, RecordedCharge>> CHARGES = new TypeReference<>() {};

    private final JsonMapper json = JsonMapper.shared();
    private @Nullable Recording recording;

    @Override
    public boolean isHeading(String line) {
        if (!line.startsWith(Recording.BEGINNING)) {
            return false;
        }
        try {
            recording = Recording.read(line);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("the first line of the recording cannot be read: " + e.getMessage(), e);
        }
        return true;
    }

    @Override
    public void read(String line, RequestDraft draft) throws UnreadableLineException {
        try (JsonParser parser = json.createParser(line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new UnreadableLineException("it is no JSON object");
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                Field field = FIELDS.get(parser.currentName());
                boolean charges = parser.currentName().equals("policies");
                JsonToken value = parser.nextToken();
                if (charges && value == JsonToken.START_OBJECT) {
                    draft.setCharges(parser.readValueAs(CHARGES));
                } else if (field != null && value.isScalarValue()) {
                    draft.set(field, parser.getString());
                } else {
                    parser.skipChildren();
                }
            }
        } catch (JacksonException e) {
            throw new UnreadableLineException("it is no JSON object: " + e.getOriginalMessage());
        }
    }

    @Override
    public boolean isRecording() {
        return true;
    }

    @Override
    public @Nullable Recording recording() {
        return recording;
    }

    /** All of them, although some lines lack a few. */
    @Override
    public Set<Field> fields() {
        return Set.copyOf(FIELDS.values());
    }

    @Override
    public Set<String> names() {
        return new TreeSet<>(FIELDS.keySet());
    }
}

package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.JsonFormat.Lines;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The formats by name, and by the first line of a log. */
public final class LogFormats {

    /** The name of the format of what the actuator has recorded. */
    static final String RECORDING = "recording";

    private LogFormats() {}

    /**
     * The format of this name, or with this pattern.
     *
     * @throws IllegalArgumentException if it is neither
     */
    static LogFormat of(String format, FieldMapping mapping) {
        return switch (format) {
            case "combined" -> new PatternFormat(PatternFormat.COMBINED, mapping);
            case "common" -> new PatternFormat(PatternFormat.COMMON, mapping);
            case "json" -> new JsonFormat(mapping, Lines.LOG);
            case "csv" -> new CsvFormat(mapping);
            case RECORDING -> new JsonFormat(mapping, Lines.RECORDING);
            default -> new PatternFormat(format, mapping);
        };
    }

    /** The format of a log that begins with this line; {@code null} if none is known. */
    static @Nullable String guess(byte[] line, int from, int to) {
        if (from < to && line[from] == '{') {
            return JsonFormat.isBeginning(line, from, to) ? RECORDING : "json";
        }
        for (String format : List.of("combined", "common")) {
            RequestDraft draft = new RequestDraft(LogOptions.DEFAULT);
            of(format, FieldMapping.USUAL_NAMES).read(line, from, to, draft);
            if (draft.mistake() == null) {
                return format;
            }
        }
        String text = new String(line, from, to - from, StandardCharsets.UTF_8);
        boolean columns = text.matches("(?i)[\"a-z_@. -]+([,;\t][\"a-z_@. -]+)+");
        return columns ? "csv" : null;
    }
}

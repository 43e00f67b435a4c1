package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.Recording;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The formats by name, and by the first line of a log. */
final class LogFormats {

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
            case "json" -> new JsonFormat(mapping);
            case "csv" -> new CsvFormat(mapping);
            case RECORDING -> new RecordingFormat();
            default -> new PatternFormat(format, mapping);
        };
    }

    /** The format of a log that begins with this line; {@code null} if none is known. */
    static @Nullable String guess(String line) {
        if (line.startsWith("{")) {
            return line.startsWith(Recording.BEGINNING) ? RECORDING : "json";
        }
        for (String format : List.of("combined", "common")) {
            try {
                RequestDraft draft = new RequestDraft(LogOptions.DEFAULT);
                of(format, FieldMapping.USUAL_NAMES).read(line, draft);
                LoggedRequest unused = draft.request();
                return format;
            } catch (UnreadableLineException e) {
                // perhaps the other one
            }
        }
        boolean columns = line.matches("(?i)[\"a-z_@. ,;\t-]+") && line.matches(".+[,;\t].+");
        return columns ? "csv" : null;
    }
}

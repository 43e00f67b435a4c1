package dev.ratelimit.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A response as received. */
public record RawResponse(int status, List<String> headerLines, String body) {

    static RawResponse parse(String text) {
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            throw new IllegalStateException("no response: '" + text + "'");
        }
        List<String> lines = text.substring(0, end).lines().toList();
        return new RawResponse(
                Integer.parseInt(lines.get(0).split(" ", -1)[1]),
                lines.subList(1, lines.size()),
                text.substring(end + 4));
    }

    /** The value of the header, or {@code null} if there is none. */
    public @Nullable String header(String name) {
        return headerLines.stream()
                .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse(null);
    }
}

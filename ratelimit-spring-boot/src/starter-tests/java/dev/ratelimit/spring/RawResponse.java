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
        RawResponse response = new RawResponse(
                Integer.parseInt(lines.get(0).split(" ", -1)[1]),
                lines.subList(1, lines.size()),
                text.substring(end + 4));
        return "chunked".equalsIgnoreCase(response.header("Transfer-Encoding"))
                ? new RawResponse(response.status(), response.headerLines(), unchunked(response.body()))
                : response;
    }

    /** The chunks that have arrived, without their lengths. */
    private static String unchunked(String body) {
        StringBuilder whole = new StringBuilder();
        int from = 0;
        for (int end = body.indexOf("\r\n"); end >= from; end = body.indexOf("\r\n", from)) {
            int length = Integer.parseInt(body.substring(from, end), 16);
            whole.append(body, end + 2, Math.min(end + 2 + length, body.length()));
            from = end + 2 + length + 2;
            if (length == 0 || from > body.length()) {
                break;
            }
        }
        return whole.toString();
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

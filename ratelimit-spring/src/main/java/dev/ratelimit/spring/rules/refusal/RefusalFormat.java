package dev.ratelimit.spring.rules.refusal;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a refusal looks like.
 *
 * @param status of a refusal because a limit is exceeded, from 400 to 599
 * @param body the kind of body
 * @param detail the text in the body if a limit is exceeded; {@code null} for the limit and when to retry
 * @param content replaces the whole body if a limit is exceeded; {@code null} for the kind of body
 */
public record RefusalFormat(
        int status,
        RejectionBody body,
        @Nullable String detail,
        @Nullable Content content) {

    /**
     * A body of the application's own.
     *
     * @param type its content type
     * @param text with {@code {retry-after}} and {@code {policies}} in place of the wait in seconds and of the policies
     *     that refuse
     */
    public record Content(String type, String text) {

        static final String RETRY_AFTER = "retry-after";
        static final String POLICIES = "policies";

        /** A word in braces, which is nothing in JSON. */
        private static final Pattern PLACEHOLDER = Pattern.compile("\\{([A-Za-z][A-Za-z0-9_.-]*\\s*)\\}");

        /** Rejects unknown placeholders. */
        public Content {
            PLACEHOLDER.matcher(text).results().map(found -> found.group(1)).forEach(Content::check);
        }

        private static void check(String name) {
            List<String> known = List.of(RETRY_AFTER, POLICIES);
            if (!known.contains(name)) {
                throw new IllegalArgumentException("unknown placeholder " + Quotation.of(name)
                        + Spelling.hint(name, known) + "; write {" + RETRY_AFTER + "} or {" + POLICIES
                        + "}; for a word in braces, a space after the first brace");
            }
        }

        /** The text with these values in place of the placeholders. */
        String filled(String retryAfter, String policies) {
            return text.replace("{" + RETRY_AFTER + "}", retryAfter).replace("{" + POLICIES + "}", policies);
        }
    }

    /** Problem details with a 429. */
    public static final RefusalFormat DEFAULT = new RefusalFormat(429, RejectionBody.PROBLEM, null, null);
}

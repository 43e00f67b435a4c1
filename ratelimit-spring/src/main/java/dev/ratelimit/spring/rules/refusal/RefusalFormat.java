package dev.ratelimit.spring.rules.refusal;

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
    public record Content(String type, String text) {}

    /** Problem details with a 429. */
    public static final RefusalFormat DEFAULT = new RefusalFormat(429, RejectionBody.PROBLEM, null, null);
}

package dev.ratelimit.spring.rules.field;

/** Times as all fields have them: in whole seconds, rounded up, so that nobody comes back too early. */
public final class WholeSeconds {

    private static final long NANOS = 1_000_000_000L;

    private WholeSeconds() {}

    static long of(long nanos) {
        return nanos / NANOS + (nanos % NANOS == 0 ? 0 : 1);
    }

    /** The value of {@code Retry-After} (RFC 9110, section 10.2.3): at least 1, since 0 would mean at once. */
    public static long retryAfter(long waitNanos) {
        return Math.max(1, of(waitNanos));
    }
}

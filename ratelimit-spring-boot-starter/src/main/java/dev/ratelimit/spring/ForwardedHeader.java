package dev.ratelimit.spring;

/** Which header of a trusted proxy tells whom it forwards for. */
public enum ForwardedHeader {
    /** {@code Forwarded} (RFC 7239), and {@code X-Forwarded-For} where there is none. */
    ANY,
    /** {@code Forwarded} only. */
    FORWARDED,
    /** {@code X-Forwarded-For} only. */
    X_FORWARDED_FOR
}

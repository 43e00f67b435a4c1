package dev.ratelimit.spring.rules.address;

/** The header in which trusted proxies name the client. */
public enum ForwardedHeader {
    /** {@code Forwarded} (RFC 7239), or {@code X-Forwarded-For} if it is absent. */
    ANY,
    /** {@code Forwarded} only. */
    FORWARDED,
    /** {@code X-Forwarded-For} only. */
    X_FORWARDED_FOR
}

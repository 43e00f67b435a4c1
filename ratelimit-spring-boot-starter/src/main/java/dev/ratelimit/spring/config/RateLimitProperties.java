package dev.ratelimit.spring.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RejectionBody;
import dev.ratelimit.spring.Tokens;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code ratelimit}. A property that is not listed here stops the start.
 *
 * @param enabled whether anything is limited at all
 * @param policies the policies by name; every request is charged against all that apply to it, or none
 * @param headers which response headers tell a caller about its own budget
 * @param retryAfterMillisHeader a response header for the wait in milliseconds, such as X-RetryAfterMs, beside Retry-After
 * @param response what a refused request gets
 */
@ConfigurationProperties(prefix = "ratelimit", ignoreUnknownFields = false)
public record RateLimitProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue Map<String, PolicyProperties> policies,
        @DefaultValue("draft") Headers headers,
        @Nullable String retryAfterMillisHeader,
        @DefaultValue Response response) {

    /** Checks the header's name. */
    public RateLimitProperties {
        if (retryAfterMillisHeader != null && !Tokens.isToken(retryAfterMillisHeader)) {
            throw new RateLimitConfigurationException(
                    "ratelimit.retry-after-millis-header",
                    retryAfterMillisHeader,
                    "the name of a header has letters, digits and hyphens; write X-RetryAfterMs");
        }
    }

    /** Which response headers are sent. */
    public enum Headers {
        /** RateLimit and RateLimit-Policy, of the IETF draft. */
        DRAFT,
        /** X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, in seconds. */
        LEGACY,
        /** Both kinds. */
        BOTH,
        /** None. */
        NONE
    }

    /**
     * What a refused request gets.
     *
     * @param status the status, from 400 to 599
     * @param body the kind of body
     * @param detail what the body says, instead of which limit is exceeded and when to retry
     */
    public record Response(
            @DefaultValue("429") int status,
            @DefaultValue("problem") RejectionBody body,
            @Nullable String detail) {

        /** Checks the status. */
        public Response {
            if (status < 400 || status > 599) {
                throw new RateLimitConfigurationException(
                        "ratelimit.response.status",
                        Integer.toString(status),
                        "status must be from 400 to 599 but was " + status);
            }
        }
    }
}

package dev.ratelimit.spring.boot.actuate;

import java.util.Set;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the actuator endpoint.
 *
 * @param showKeys Whether keys, which are names and addresses of callers, are shown; others see hashes.
 * @param roles The roles of those who are authorized to see keys; if empty, everybody who is authenticated.
 */
@ConfigurationProperties("management.endpoint.ratelimits")
public record RateLimitsEndpointProperties(
        @DefaultValue("never") Show showKeys, @DefaultValue Set<String> roles) {}

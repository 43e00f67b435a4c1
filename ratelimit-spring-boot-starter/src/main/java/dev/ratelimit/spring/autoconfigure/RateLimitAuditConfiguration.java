package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.boot.actuate.Operator;
import dev.ratelimit.spring.boot.spi.ChangeObserver;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Publishes every change as an audit event, if there is Spring Boot's actuator. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(AuditApplicationEvent.class)
class RateLimitAuditConfiguration {

    private static final String TYPE = "RATE_LIMIT_CHANGED";

    @Bean("dev.ratelimit.audit")
    ChangeObserver rateLimitAudit(ApplicationEventPublisher events) {
        return (policy, what) -> {
            Map<String, Object> data = new HashMap<>(what);
            data.put("policy", policy);
            String who = Objects.requireNonNullElse(Operator.name(), "application");
            events.publishEvent(new AuditApplicationEvent(who, TYPE, data));
        };
    }
}

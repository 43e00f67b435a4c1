package dev.ratelimit.spring.autoconfigure;

import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

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
            events.publishEvent(new AuditApplicationEvent(whoeverAsks(), TYPE, data));
        };
    }

    private static String whoeverAsks() {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        if (!(request instanceof ServletRequestAttributes servlet)) {
            return "application";
        }
        Principal principal = servlet.getRequest().getUserPrincipal();
        return principal == null ? "anonymous" : principal.getName();
    }
}

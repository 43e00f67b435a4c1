package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.boot.openapi.OpenApiLimits;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.rules.decision.RequestRules;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** With springdoc, its description of the API says which operations are limited, and what a refusal looks like. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(GlobalOpenApiCustomizer.class)
@ConditionalOnBean(RequestRules.class)
class OpenApiConfiguration {

    @Bean("dev.ratelimit.openApi")
    GlobalOpenApiCustomizer rateLimitOpenApi(RequestRules rules, RequestExplainer explainer) {
        return new OpenApiLimits(rules, explainer);
    }
}

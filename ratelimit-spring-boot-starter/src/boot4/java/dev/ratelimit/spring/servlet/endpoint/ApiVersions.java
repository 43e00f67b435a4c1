package dev.ratelimit.spring.servlet.endpoint;

import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Versions of an API, by which Spring Framework 7 chooses handlers. */
final class ApiVersions {

    private ApiVersions() {}

    static boolean areUsedBy(RequestMappingHandlerMapping mapping) {
        return mapping.getApiVersionStrategy() != null;
    }
}

package dev.ratelimit.spring.reactive.endpoint;

import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;

/** Versions of an API, by which Spring Framework 7 chooses handlers. */
final class ApiVersions {

    private ApiVersions() {}

    static boolean areUsedBy(RequestMappingInfoHandlerMapping mapping) {
        return mapping.getApiVersionStrategy() != null;
    }
}

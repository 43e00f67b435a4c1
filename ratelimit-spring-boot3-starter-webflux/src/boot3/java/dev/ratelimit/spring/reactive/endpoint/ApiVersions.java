package dev.ratelimit.spring.reactive.endpoint;

import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;

/** Versions of an API, which Spring Framework 6 does not know. */
final class ApiVersions {

    private ApiVersions() {}

    static boolean areUsedBy(RequestMappingInfoHandlerMapping mapping) {
        return false;
    }
}

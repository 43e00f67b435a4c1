package dev.ratelimit.spring.servlet.endpoint;

import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Versions of an API, which Spring Framework 6 does not know. */
final class ApiVersions {

    private ApiVersions() {}

    static boolean areUsedBy(RequestMappingHandlerMapping mapping) {
        return false;
    }
}

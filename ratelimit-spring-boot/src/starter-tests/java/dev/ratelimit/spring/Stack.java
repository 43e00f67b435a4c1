package dev.ratelimit.spring;

import org.springframework.util.ClassUtils;

/** The web stacks, each of which has a starter. */
public enum Stack {
    SERVLET,
    WEBFLUX;

    /** The one that the tests run on. */
    public static Stack current() {
        return ClassUtils.isPresent("org.springframework.web.servlet.DispatcherServlet", null) ? SERVLET : WEBFLUX;
    }
}

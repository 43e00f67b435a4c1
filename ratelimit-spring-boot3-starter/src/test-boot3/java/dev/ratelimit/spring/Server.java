package dev.ratelimit.spring;

import java.util.List;
import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.web.servlet.server.ServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The servers that Spring MVC is tested on. */
public enum Server {
    TOMCAT,
    JETTY;

    /** The server of applications that choose none. */
    public static final Server DEFAULT = TOMCAT;

    /** Loggers that report controllers that throw, and paths without one. */
    static final List<String> NOISE = List.of(
            "org.apache.catalina.core.ContainerBase",
            "org.eclipse.jetty.ee10.servlet.ServletChannel",
            "org.springframework.web.servlet.PageNotFound");

    /** Jetty, although Tomcat is also on the class path. */
    @Configuration(proxyBeanMethods = false)
    static class Jetty {

        @Bean
        ServletWebServerFactory jetty() {
            return new JettyServletWebServerFactory();
        }
    }

    /** The auto-configurations of the other server: none, because they depend on the factory. */
    String excluded() {
        return "";
    }

    /** What chooses the server. */
    List<Class<?>> sources() {
        return this == JETTY ? List.of(Jetty.class) : List.of();
    }
}

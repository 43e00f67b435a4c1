package dev.ratelimit.spring;

import java.util.List;

/** The servers that Spring MVC is tested on. */
public enum Server {
    TOMCAT("jetty.autoconfigure.%sJetty"),
    JETTY("tomcat.autoconfigure.%sTomcat");

    /** The server of applications that choose none. */
    public static final Server DEFAULT = TOMCAT;

    /** Loggers that report controllers that throw, and paths without one. */
    static final List<String> NOISE = List.of(
            "org.apache.catalina.core.ContainerBase",
            "org.eclipse.jetty.ee11.servlet.ServletChannel",
            "org.springframework.web.servlet.PageNotFound");

    private final String other;

    Server(String other) {
        this.other = "org.springframework.boot." + other;
    }

    /** The auto-configurations of the other server, which is also on the class path. */
    String excluded() {
        return other.formatted("servlet.") + "ServletWebServerAutoConfiguration,"
                + other.formatted("actuate.web.server.") + "ServletManagementContextAutoConfiguration";
    }

    /** What chooses the server: nothing, because others are excluded. */
    List<Class<?>> sources() {
        return List.of();
    }
}

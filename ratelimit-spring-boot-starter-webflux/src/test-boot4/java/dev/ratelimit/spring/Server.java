package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;

/** The servers that WebFlux is tested on. */
public enum Server {
    NETTY("reactor.netty", "Netty"),
    TOMCAT("tomcat", "Tomcat"),
    JETTY("jetty", "Jetty");

    /** The server of applications that choose none. */
    public static final Server DEFAULT = NETTY;

    /** Loggers that report controllers that throw. */
    static final List<String> NOISE =
            List.of("org.springframework.web.HttpLogging", "org.springframework.boot.webflux.autoconfigure.error");

    private final String autoConfigurations;

    Server(String module, String name) {
        String root = "org.springframework.boot." + module + ".autoconfigure.";
        this.autoConfigurations = Stream.of(
                        (module.equals("reactor.netty") ? "" : "reactive.") + name
                                + "ReactiveWebServerAutoConfiguration",
                        "actuate.web.server." + name + "ReactiveManagementContextAutoConfiguration")
                .map(root::concat)
                .collect(Collectors.joining(","));
    }

    /** The auto-configurations of the other servers, which are also on the class path. */
    String excluded() {
        return Stream.of(values())
                .filter(server -> server != this)
                .map(server -> server.autoConfigurations)
                .collect(Collectors.joining(","));
    }

    /** What the server needs; others are excluded. */
    List<Class<?>> sources() {
        return List.of(OwnThreads.class);
    }

    /** By default, all applications of a JVM share threads of Netty, which end with the first of them. */
    @Configuration(proxyBeanMethods = false)
    static class OwnThreads {

        @Bean
        ReactorResourceFactory resources() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            resources.setShutdownQuietPeriod(Duration.ZERO);
            return resources;
        }
    }
}

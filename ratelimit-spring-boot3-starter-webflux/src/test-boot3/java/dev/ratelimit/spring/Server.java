package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import org.springframework.boot.web.embedded.jetty.JettyReactiveWebServerFactory;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.embedded.tomcat.TomcatReactiveWebServerFactory;
import org.springframework.boot.web.reactive.server.ReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;

/** The servers that WebFlux is tested on. */
public enum Server {
    NETTY(List.of(Netty.class)),
    TOMCAT(List.of(Tomcat.class)),
    JETTY(List.of(Jetty.class));

    /** The server of applications that choose none. */
    public static final Server DEFAULT = NETTY;

    /** Loggers that report controllers that throw. */
    static final List<String> NOISE =
            List.of("org.springframework.web.HttpLogging", "org.springframework.boot.autoconfigure.web.reactive.error");

    /** Netty, although Tomcat, which comes first, is also on the class path. */
    @Configuration(proxyBeanMethods = false)
    static class Netty {

        @Bean
        ReactiveWebServerFactory netty(ReactorResourceFactory resources) {
            NettyReactiveWebServerFactory factory = new NettyReactiveWebServerFactory();
            factory.setResourceFactory(resources);
            return factory;
        }

        /** By default, all applications of a JVM share threads of Netty, which end with the first of them. */
        @Bean
        ReactorResourceFactory resources() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            resources.setShutdownQuietPeriod(Duration.ZERO);
            return resources;
        }

        /** Spring Framework 6 chooses that of Tomcat if it is on the class path, whatever the server is. */
        @Bean
        WebFluxConfigurer upgrades() {
            return new WebFluxConfigurer() {
                @Override
                public WebSocketService getWebSocketService() {
                    return new HandshakeWebSocketService(new ReactorNettyRequestUpgradeStrategy());
                }
            };
        }
    }

    /** Tomcat, although Netty is also on the class path. */
    @Configuration(proxyBeanMethods = false)
    static class Tomcat {

        @Bean
        ReactiveWebServerFactory tomcat() {
            return new TomcatReactiveWebServerFactory();
        }
    }

    /** Jetty, although Netty is also on the class path. */
    @Configuration(proxyBeanMethods = false)
    static class Jetty {

        @Bean
        ReactiveWebServerFactory jetty() {
            return new JettyReactiveWebServerFactory();
        }
    }

    private final List<Class<?>> sources;

    Server(List<Class<?>> sources) {
        this.sources = sources;
    }

    /** The auto-configurations of the other servers: none, because they depend on the factory. */
    String excluded() {
        return "";
    }

    /** What chooses the server. */
    List<Class<?>> sources() {
        return sources;
    }
}

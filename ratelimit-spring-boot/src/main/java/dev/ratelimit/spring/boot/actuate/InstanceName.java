package dev.ratelimit.spring.boot.actuate;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * The names of the application and of this instance, for people.
 *
 * @param environment has them, and knows the port once the server listens
 */
public record InstanceName(Environment environment) {

    /** The variables in which Linux, with containers, and Windows have the name of the host. */
    private static final String[] HOST_NAMES = {"HOSTNAME", "COMPUTERNAME"};

    /** The name of the application; {@code null} without one. */
    @Nullable
    String application() {
        String application = environment.getProperty("spring.application.name", "");
        return application.isBlank() ? null : application;
    }

    /** The host, and the port by which several instances on it differ; {@code null} for an unknown host. */
    @Nullable
    String address() {
        String host = host();
        String port = environment.getProperty("local.server.port");
        return host == null || port == null ? host : host + ":" + port;
    }

    private @Nullable String host() {
        return Stream.of(HOST_NAMES)
                .map(environment::getProperty)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(InstanceName::localHost);
    }

    private static @Nullable String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return null;
        }
    }
}

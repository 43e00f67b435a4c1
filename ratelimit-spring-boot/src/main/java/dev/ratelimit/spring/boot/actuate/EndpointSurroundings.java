package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.boot.spi.StoreReport;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * Where the endpoint runs, for people who have several of its pages open.
 *
 * @param environment names the application, the host and the port
 * @param writable whether changes are possible
 */
public record EndpointSurroundings(StoreReport store, Environment environment, boolean writable) {

    /** The variables in which Linux, with containers, and Windows have the name of the host. */
    private static final String[] HOST_NAMES = {"HOSTNAME", "COMPUTERNAME"};

    /** The application and the instance of it, as far as they have names, for JSON. */
    Map<String, Object> instance() {
        Map<String, Object> map = new LinkedHashMap<>();
        String application = environment.getProperty("spring.application.name", "");
        if (!application.isBlank()) {
            map.put("application", application);
        }
        String host = host();
        if (host != null) {
            // known once the server listens; several instances on a host differ by it
            String port = environment.getProperty("local.server.port");
            map.put("name", port == null ? host : host + ":" + port);
        }
        return map;
    }

    private @Nullable String host() {
        return Stream.of(HOST_NAMES)
                .map(environment::getProperty)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(EndpointSurroundings::localHost);
    }

    private static @Nullable String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return null;
        }
    }
}

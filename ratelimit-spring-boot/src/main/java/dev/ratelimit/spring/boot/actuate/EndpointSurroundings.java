package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.boot.spi.StoreReport;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where the endpoint runs, for people who have several of its pages open.
 *
 * @param writable whether changes are possible
 */
public record EndpointSurroundings(StoreReport store, InstanceName name, boolean writable) {

    /** The application and the instance of it, as far as they have names, for JSON. */
    Map<String, Object> instance() {
        Map<String, Object> map = new LinkedHashMap<>();
        String application = name.application();
        if (application != null) {
            map.put("application", application);
        }
        String address = name.address();
        if (address != null) {
            map.put("name", address);
        }
        return map;
    }
}

package dev.ratelimit.spring.reactive.endpoint;

import java.util.HashMap;
import java.util.Map;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/** An exchange whose attributes can be set without changing those of the original. */
final class AttributeKeepingExchange extends ServerWebExchangeDecorator {

    private final Map<String, Object> attributes;

    AttributeKeepingExchange(ServerWebExchange exchange) {
        super(exchange);
        this.attributes = new HashMap<>(exchange.getAttributes());
    }

    @Override
    public Map<String, Object> getAttributes() {
        return attributes;
    }
}

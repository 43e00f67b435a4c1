package org.springframework.cloud.context.environment;

import java.util.Set;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;

/** Stands for Spring Cloud's event, which would bring its own auto-configurations into all tests. */
public final class EnvironmentChangeEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1;

    private final transient Set<String> keys;

    /** Creates an event as Spring Cloud does. */
    public EnvironmentChangeEvent(ApplicationContext context, Set<String> keys) {
        super(context);
        this.keys = keys;
    }

    /** The properties that have changed. */
    public Set<String> getKeys() {
        return keys;
    }
}

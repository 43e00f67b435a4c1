package dev.ratelimit.storm;

import java.util.function.Supplier;

/** What happens in a run, one line after the other. */
@FunctionalInterface
public interface Timeline {

    /** That of a run of which nobody wants to know more than how it ends. */
    Timeline UNREAD = line -> {};

    /** Something happens. */
    void note(Supplier<String> line);
}

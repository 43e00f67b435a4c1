package dev.ratelimit.spring.boot.spi;

import java.util.Map;
import java.util.function.BiConsumer;

/** Receives the policy and what was done, after each change and each reset of a key. */
public interface ChangeObserver extends BiConsumer<String, Map<String, Object>> {}

package dev.ratelimit.spring.boot.spi;

import java.util.Map;
import java.util.function.Supplier;

/** Describes the type and the state of the store. */
public interface StoreReport extends Supplier<Map<String, Object>> {}

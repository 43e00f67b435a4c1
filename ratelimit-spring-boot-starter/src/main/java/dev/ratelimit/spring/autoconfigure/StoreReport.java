package dev.ratelimit.spring.autoconfigure;

import java.util.Map;
import java.util.function.Supplier;

/** Describes the type and the state of the store. */
interface StoreReport extends Supplier<Map<String, Object>> {}

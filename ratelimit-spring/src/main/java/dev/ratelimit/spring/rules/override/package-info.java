/**
 * The overrides of single keys that operators set while the application runs: what they are, how instances share them, and
 * when they end.
 */
@NullMarked
package dev.ratelimit.spring.rules.override;

import org.jspecify.annotations.NullMarked;
